"""`radrag eval retrieval` and `radrag eval ablate` on small sets, with models made of letters."""

import argparse
import json
import tempfile
from pathlib import Path

import pytest
import yaml

from cli import evaluate, places, private_index
from cli.evaluate_configuration import KNOWN
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import ablation
from tests.evaluation.tiny import Store, beir, models, ours, tokenizer

__all__ = ["models"]
pytestmark = pytest.mark.usefixtures("models")
GRIDS = [one for one in sorted((places.ROOT / "evaluation" / "grids").glob("*.yaml")) if one.stem != "depth"]


@pytest.fixture
def kidney(tmp_path: Path) -> Path:
    texts = {"a": "Cysts of the kidney are round.", "b": "Stones of the kidney hurt.", "c": "Veins drain."}
    return beir(tmp_path / "kidney", texts, {"What is round?": "a", "What hurts, a stone?": "b"})


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes live for a cell only: where memory can be a folder, none waits for a disk."""
    if Path("/dev/shm").is_dir():
        monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")


async def command(*words: object, home: Path) -> int:
    given = argparse.Namespace(words=[str(word) for word in words])
    words_of = str(tokenizer(home / "tokenizer"))
    return await evaluate.run(
        given, Terminal(), {"RADRAG_HOME": str(home), "RADRAG_EMBEDDER_TOKENIZER": words_of}
    )


async def told(capsys: pytest.CaptureFixture[str], home: Path, *words: object) -> dict[str, object]:
    assert await command("retrieval", *words, "--json", home=home) == Exit.OK
    return dict(json.loads(capsys.readouterr().out))


async def test_mixed_sets_have_a_topic_each_and_figures_of_their_own(
    kidney: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lung = beir(tmp_path / "lung", {"a": "Nodules of the lung."}, {"Where are nodules?": "a"})
    values = await told(capsys, tmp_path, kidney, lung, "--mixed", "--limit", 1)
    assert (values["dataset"], values["queries"]) == ("kidney + lung", 2)
    groups = values["groups"]
    assert isinstance(groups, dict)
    assert list(groups) == ["set kidney", "set lung"]
    assert groups["set lung"]["bm25"]["P@1"]["mean"] == 1.0
    assert values["command"] == f"radrag eval retrieval {kidney} {lung} --mixed --limit 1 --json"


async def test_our_own_layout_has_evidence_measures_by_topic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = await told(capsys, tmp_path, ours(tmp_path / "ours"), "--contexts", 2)
    rows, groups = values["rows"], values["groups"]
    assert isinstance(rows, dict)
    assert isinstance(groups, dict)
    assert {"ParentSpan@2", "SpanRecall@2", "SpanPrecision@2", "SpanIoU@2", "Rprec"} <= set(rows["reranked"])
    assert rows["dense"]["ParentSpan@2"]["mean"] == 1.0  # both documents, so both needed spans
    assert rows["dense"]["ParentSpan@1"]["mean"] <= 0.5  # one document cannot hold both
    assert list(groups) == ["topic physics", "topic safety", "complexity 0", "complexity 2"]


@pytest.mark.parametrize("way", ["hash", "kmeans"])
async def test_topics_can_be_split(
    way: str, kidney: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = await told(capsys, tmp_path, kidney, "--split-topics", way)
    rows = values["rows"]
    assert isinstance(rows, dict)
    assert rows["bm25"]["R@5"]["mean"] == 1.0


async def test_a_configuration_speaks_first_and_the_command_line_wins(
    kidney: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    settings = {
        "rrf_k": 7,
        "bm25_k1": 2.0,
        "chunking": "fixed",
        "overlap": 0.0,
        "contexts": 3,
        "words": "english",
    }
    file.write_text(yaml.safe_dump({"measures": ["R@1"], "settings": settings}), encoding="utf-8")
    values = await told(capsys, tmp_path, kidney, "--config", file, "--contexts", 4)
    used, plain = values["settings"], await told(capsys, tmp_path, kidney)
    assert isinstance(used, dict)
    assert (used["rrf_k"], used["contexts"], used["words"], used["measures"]) == (7, 4, "english", ["R@1"])
    assert (used["chunking"]["strategy"], used["chunking"]["overlap"]) == ("fixed", 0.0)
    before = plain["settings"]
    assert isinstance(before, dict)
    assert used["bm25_sha256"] != before["bm25_sha256"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("settings: {temperature: 1}", "'temperature' is no setting or option"),
        ("each: {rrf_k: [20, 60]}", "has 2 configurations"),
        ("settings: {rrf_k: many}", "RADRAG_RRF_K must be of type int"),
        ("settings: [rrf_k]", "settings is not a mapping"),
        ("rrf_k: 20", "'rrf_k' is none of"),
        ("- rrf_k", "is not a mapping of names"),
        ("{", "cannot be read"),
    ],
)
async def test_a_wrong_configuration_is_named(
    text: str, said: str, kidney: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8")
    assert await command("retrieval", kidney, "--config", file, home=tmp_path) == Exit.USAGE
    assert said in capsys.readouterr().err


async def test_each_question_s_values_can_be_kept(kidney: Path, tmp_path: Path) -> None:
    kept = tmp_path / "values.jsonl"
    assert await command("retrieval", kidney, "--per-query", kept, home=tmp_path) == Exit.OK
    found = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert {(one["query"], one["row"]) for one in found} >= {("q0", "bm25"), ("q1", "reranked")}
    assert all(0 <= one["nDCG@10"] <= 1 for one in found)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.stem)
async def test_every_ready_made_grid_runs(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_index, "EdgeStore", Store)
    out = tmp_path / "out"
    small = ours(tmp_path / "ours")
    assert await command("ablate", grid, out, "--dataset", small, home=tmp_path) == Exit.OK
    results = [json.loads(one.read_text(encoding="utf-8")) for one in out.glob("*.json")]
    assert len(results) == len(ablation.read(grid, KNOWN).cells)
    assert len({one["settings_sha256"] for one in results}) == len(results)  # no cell is another's double
    assert (out / "table.md").read_text(encoding="utf-8").count("\n") > len(results)
    assert (out / "forest.png").stat().st_size > 1000


async def test_a_grid_goes_on_where_it_was_and_notices_other_data(kidney: Path, tmp_path: Path) -> None:
    grid, out = tmp_path / "grid.yaml", tmp_path / "out"
    grid.write_text(f"dataset: {kidney}\neach: {{rrf_k: [20, 60]}}\n", encoding="utf-8")
    assert await command("ablate", grid, out, home=tmp_path) == Exit.OK
    first = {one: one.stat().st_mtime_ns for one in out.glob("*.json")}
    assert await command("ablate", grid, out, home=tmp_path) == Exit.OK
    assert {one: one.stat().st_mtime_ns for one in out.glob("*.json")} == first
    with (kidney / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"_id": "d", "text": "Ducts."}')
    assert await command("ablate", grid, out, home=tmp_path) == Exit.OK
    assert {one: one.stat().st_mtime_ns for one in out.glob("*.json")}.items().isdisjoint(first.items())
