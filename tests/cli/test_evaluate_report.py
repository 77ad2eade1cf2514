"""Grids, the gate and the report, on results small enough to check; and a gate that must fail."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli import (
    evaluate,
    evaluate_ablate,
    evaluate_configuration,
    evaluate_depth,
    evaluate_gate,
    evaluate_retrieval,
    places,
    word_index,
)  # fmt: skip
from cli.exits import Exit
from evaluation import ablation
from evaluation.jsonl import DatasetError
from radrag.settings import Settings
from tests.cli.screens import err, out, pipe
from tests.evaluation.tiny import beir

GRIDS = sorted((places.ROOT / "evaluation" / "grids").glob("*.yaml"))
KNOWN = evaluate_configuration.KNOWN


async def radrag(*words: object) -> tuple[int, str, str]:
    screen = pipe()
    given = argparse.Namespace(words=[str(word) for word in words])
    return await evaluate.run(given, screen, {}), out(screen), err(screen)


def result(mean: float) -> dict[str, Any]:
    figure = {"mean": mean, "low": mean - 0.05, "high": mean + 0.05}
    rows = {row: {"nDCG@10": figure, "R@5": figure, "R@13": figure} for row in ("bm25", "rrf_global")}
    return {"kind": "retrieval", "dataset": "set <1>", "split": "", "queries": 7, "rows": rows, "day": "2026"}


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_the_shipped_grids_name_settings_that_exist(path: Path) -> None:
    grid = ablation.read(path, KNOWN, evaluate_depth.KNOWN)
    for cell in grid.cells:
        if grid.frozen:
            evaluate_depth.checked(cell, grid)
        else:
            evaluate_ablate._asked(cell, grid)
            Settings.from_environ(evaluate_configuration.environment(cell.values))
    assert len({cell.key(grid) for cell in grid.cells}) == len(grid.cells)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "is not a mapping"),
        ("split: test", "needs dataset"),
        ("dataset: [1]", "needs dataset"),
        ("dataset: d\nlimit: some", "limit is 'some'"),
        ("dataset: d\nmeasures: nDCG@10", "measures is not a list"),
        ("dataset: d\neach: {rrf_k: 20}", "each is not a mapping of names to lists"),
        ("dataset: d\ncells: {rrf_k: 20}", "cells is not a list"),
        ("dataset: d\ncells: [{name: a, rrf_k: 2}, {name: a, rrf_k: 3}]", "two cells are named 'a'"),
        ("dataset: d\nsettings: {temperature: 1}", "'temperature' is no setting or option"),
        ("dataset: d\neach: {colour: [1]}", "cell 'colour=1': 'colour' is no setting or option"),
        ("dataset: d\nsetings: {}", "'setings' is none of"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_wrong_grid_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "g.yaml").write_text(text)
    with pytest.raises(DatasetError, match=message):
        ablation.read(tmp_path / "g.yaml", KNOWN)


async def test_a_grid_goes_on_where_it_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    async def measured(
        given: argparse.Namespace, screen: object, environ: Mapping[str, str]
    ) -> tuple[dict[str, Any], None]:
        asked.append((given.pooling, environ["RADRAG_RRF_K"]))
        if len(asked) == 3:
            raise DatasetError(tmp_path, 0, "cut off")
        data = {"data_sha256": evaluate_retrieval.dataset(given).sha256}
        return result(0.5 + 0.1 * len(asked)) | data, None

    monkeypatch.setattr(evaluate_retrieval, "measured", measured)
    data = beir(tmp_path / "d", {"a": "Alpha."}, {"Alpha?": "a"})
    (tmp_path / "g.yaml").write_text(f"dataset: {data}\neach: {{pooling: [chunk, late], rrf_k: [20, 60]}}")
    words = ("ablate", tmp_path / "g.yaml", tmp_path / "out")
    assert (await radrag(*words))[0] == Exit.USAGE
    status, said, _ = await radrag(*words)
    assert status == Exit.OK
    assert asked == [("chunk", "20"), ("chunk", "60"), ("late", "20"), ("late", "20"), ("late", "60")]
    assert "pooling=late rrf_k=60" in said
    assert (tmp_path / "out" / "table.md").read_text().count("\n| ") == 9
    assert (tmp_path / "out" / "forest.png").read_bytes().startswith(b"\x89PNG")


async def test_a_bad_value_names_the_cell(tmp_path: Path) -> None:
    data = beir(tmp_path / "d", {"a": "Alpha."}, {"Alpha?": "a"})
    (tmp_path / "g.yaml").write_text(f"dataset: {data}\nsettings: {{rrf_k: many}}")
    status, _, said = await radrag("ablate", tmp_path / "g.yaml", tmp_path / "out")
    assert (status, "cell 'as set'" in said) == (Exit.USAGE, True)


async def test_an_option_that_cannot_be_is_found_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text("dataset: d\neach: {pooling: [chunk, early]}")
    status, _, said = await radrag("ablate", tmp_path / "g.yaml", tmp_path / "out")
    assert (status, "cell 'pooling=early'" in said) == (Exit.USAGE, True)


async def test_a_report_holds_every_result_and_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(result(0.7)))
    status, _, _ = await radrag("report", tmp_path / "r.json", "--out", tmp_path / "out")
    page, text = ((tmp_path / "out" / f"report.{kind}").read_text() for kind in ("html", "md"))
    assert status == Exit.OK
    assert "set &lt;1&gt;" in page
    assert page.count("data:image/png") == 2
    assert "<script" not in page
    assert "0.700 (0.650–0.750)" in text
    assert "result_sha256" in text
    assert "redo: `radrag eval retrieval" in text
    (tmp_path / "x.json").write_text('{"kind": "retrieval"}')
    status, _, said = await radrag("report", tmp_path / "x.json", "--out", tmp_path / "out")
    assert (status, "is no result of eval" in said) == (Exit.USAGE, True)


async def test_the_gate_passes_today_and_fails_when_words_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert places.tokenizer(Settings(), {}).exists(), "run `make models`"  # not skipped: it is the gate
    assert (await radrag("gate"))[0] == Exit.OK
    search = word_index.rankings
    monkeypatch.setattr(
        evaluate_gate, "rankings", lambda q, t, n: {k: v[3:] for k, v in search(q, t, n).items()}
    )
    status, _, said = await radrag("gate")
    assert (status, "nDCG@10 is" in said) == (Exit.FAILURE, True)
