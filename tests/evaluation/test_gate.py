"""The baseline: what passes, what has fallen, and a figure that is no number."""

import math
from pathlib import Path

import pytest

from evaluation import gate
from evaluation.jsonl import DatasetError
from evaluation.measures import Mean

BASE = {"m": Mean(0.9, 0.8, 1.0), "n": Mean(0.5, 0.4, 0.6)}


@pytest.mark.parametrize(("value", "falls"), [(0.95, False), (0.8, False), (0.79, True), (math.nan, True)])
def test_below_the_interval_has_fallen(value: float, falls: bool) -> None:
    found = BASE | {"m": Mean(value, value, value)}
    assert bool(gate.fallen(found, BASE)) is falls


def test_what_was_not_measured_has_fallen() -> None:
    assert gate.fallen({"m": BASE["m"]}, BASE) == ["n was not measured"]


def test_a_baseline_is_of_its_own_data(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    gate.write(path, BASE, "one")
    assert gate.read(path, "one") == BASE
    with pytest.raises(DatasetError, match="was measured on other data"):
        gate.read(path, "other")
    with pytest.raises(DatasetError, match="is missing"):
        gate.read(tmp_path / "none.json", "one")
    path.write_text("{}")
    with pytest.raises(DatasetError, match="is not a baseline"):
        gate.read(path, "one")
