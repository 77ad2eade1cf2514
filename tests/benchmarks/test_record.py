"""A result says which commit and machine it belongs to."""

import json
from pathlib import Path

from benchmarks.record import record


def test_a_result_carries_commit_and_machine(tmp_path: Path) -> None:
    path = tmp_path / "results" / "kills.json"
    record(path, {"kills": 50})
    said = json.loads(path.read_text())
    assert said["kills"] == 50
    assert said["machine"]["cores"] >= 1
    assert said["machine"]["memory"] > 10**8
    assert [one.name for one in path.parent.iterdir()] == ["kills.json"]
    assert set(said["commit"].rstrip("+")) <= set("0123456789abcdef")
