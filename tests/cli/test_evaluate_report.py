"""Grids, the gate and the report, on results small enough to check; and a gate that must fail."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
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
from evaluation import ablation, tally
from evaluation.answer_tables import compared
from evaluation.jsonl import DatasetError
from evaluation.judging.outcomes import calibrated
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
    command = "radrag eval retrieval 'set <1>' --json"
    return {
        "kind": "retrieval",
        "command": command,
        "dataset": "set <1>",
        "split": "",
        "queries": 7,
        "rows": rows,
        "day": "2026",
    }


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


def kept(path: Path, values: dict[str, Any]) -> Path:
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


async def test_a_judge_s_means_stand_in_a_report_only_with_labels_behind_them(tmp_path: Path) -> None:
    """Of two judged metrics one is calibrated; the curve, the spread and the comparison are drawn."""
    cases = {f"q{n}": n / 20 for n in range(20)}
    labels = {case: score > 0.4 for case, score in cases.items()}
    judged = {"mean": None, "cases": 20, "failures": {"timeout": 3}, "spread": 0.1}
    scores = {"faithfulness": cases, "correctness": cases, "rouge_l": cases}
    values: dict[str, Any] = {
        "kind": "answers", "command": "radrag eval answers a.jsonl --json", "cases": 21, "unanswered": 1,
        "judged": [judged | {"metric": name} for name in ("faithfulness", "correctness")], "scores": scores,
        "baseline": {"rouge_l": asdict(compared({"m": cases}, {"m": dict.fromkeys(cases, 0.1)})["m"])},
        "calibration": {"faithfulness": asdict(calibrated(cases, labels))},
    }  # fmt: skip
    out_folder = tmp_path / "out"
    status, _, _ = await radrag("report", kept(tmp_path / "a.json", values), "--out", out_folder)
    text = (out_folder / "report.md").read_text(encoding="utf-8")
    assert status == Exit.OK
    assert "Answers: 21, of which 1 unanswered" in text
    (line,) = [one for one in text.splitlines() if one.startswith("| correctness")]
    assert line == "| correctness | 20 |  | timeout 3 | 0.100 | not calibrated |"
    assert "| faithfulness | 20 | 0.475" in text
    assert "| rouge_l | 0.475 | 0.100 | 20 | < 0.001 |" in text
    names = {path.name for path in out_folder.glob("*.png")}
    assert names == {"1-a-metrics.png", "1-a-spread.png", "1-a-calibration.png"}
    assert "redo: `radrag eval answers a.jsonl --json`" in text


async def test_groups_of_questions_have_a_table_of_their_own(tmp_path: Path) -> None:
    values = result(0.5) | {"groups": {"set one": result(0.4)["rows"], "set two": result(0.6)["rows"]}}
    await radrag("report", kept(tmp_path / "r.json", values), "--out", tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| set two | 0.600 (0.550–0.650) | 0.600 (0.550–0.650) |" in text


async def test_the_functional_run_is_reported_by_group(tmp_path: Path) -> None:
    one = tally.Tally(2, 1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, None, 1.0)
    values: dict[str, Any] = {
        "kind": "functional",
        "command": "radrag eval functional --json",
        "failures": ["q"],
    }
    values |= {"groups": {"all": asdict(one), "topic safety": asdict(one)}}
    status, _, _ = await radrag("report", kept(tmp_path / "f.json", values), "--out", tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert (status, "Functional: 2 questions, 1 did not pass" in text) == (Exit.OK, True)
    assert "| topic safety | 2 | 1 | 100 % |" in text
