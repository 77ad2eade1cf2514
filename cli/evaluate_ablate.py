"""`radrag eval ablate GRID.yaml`: configurations on the same questions; cut off, it goes on where it was."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from cli import evaluate, evaluate_retrieval
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import ablation, figures, report
from evaluation.ablation import Cell, Grid
from evaluation.jsonl import DatasetError
from radrag.settings import SettingError, Settings

OPTIONS = ("chunking", "pooling", "overlap", "fusion", "depth", "split_topics", "no_reranker")
SETTINGS = tuple(field.name for field in fields(Settings))


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Runs the cells that have no result yet, then writes table.md and forest.png beside the results."""
    grid = ablation.read(given.grid, {*OPTIONS, *SETTINGS})
    given.out.mkdir(parents=True, exist_ok=True)
    for cell in grid.cells:  # a typing error is found before an hour of work
        _asked(cell, grid)
    results = {}
    for number, cell in enumerate(grid.cells, 1):
        screen.note(f"{number} of {len(grid.cells)}: {cell.name}")
        results[cell.name] = await _result(cell, grid, given, screen, environ)
    table = ablation.table(results, grid.measures)
    (given.out / "table.md").write_text(report.markdown(table) + "\n", encoding="utf-8")
    _plot(results, grid, given.out / "forest.png")
    screen.table(*table)
    screen.note(f"written: {given.out / 'table.md'}, {given.out / 'forest.png'}")
    return Exit.OK


async def _result(
    cell: Cell, grid: Grid, given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]
) -> dict[str, object]:
    kept = given.out / f"{cell.key(grid)}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    try:
        asked, around = _asked(cell, grid), {**environ, **_environment(cell)}
        values, _ = await evaluate_retrieval.measured(asked, screen, around)
    except SettingError as error:
        raise DatasetError(given.grid, 0, f"cell {cell.name!r}: {error}") from None
    text = json.dumps({"cell": cell.name, **values}, ensure_ascii=False, default=vars)
    # Whole or not at all: a result cut off must not pass for one.
    half = kept.with_suffix(".half")
    half.write_text(text, encoding="utf-8")
    half.replace(kept)
    return dict(json.loads(text))


def _asked(cell: Cell, grid: Grid) -> argparse.Namespace:
    """The words of `radrag eval retrieval` that this cell stands for."""
    words = ["retrieval", grid.dataset, f"--split={grid.split}", f"--limit={grid.limit}"]
    words += [f"--measure={name}" for name in grid.measures]
    for name, value in cell.values.items():
        if name in OPTIONS and value not in (False, ""):
            flag = f"--{name.replace('_', '-')}"
            words.append(flag if value is True else f"{flag}={value}")
    try:
        return evaluate.parsed(words)
    except SystemExit:  # argparse has said which option, and what it may be
        raise DatasetError(Path(grid.dataset), 0, f"cell {cell.name!r} cannot be asked for") from None


def _environment(cell: Cell) -> dict[str, str]:
    return {f"RADRAG_{k.upper()}": str(v) for k, v in cell.values.items() if k not in OPTIONS}


def _plot(results: Mapping[str, Mapping[str, object]], grid: Grid, path: Path) -> None:
    measure = grid.measures[0]
    found = {}
    for name, result in results.items():
        rows = result["rows"]
        assert isinstance(rows, dict)
        for row, values in rows.items():
            one = values[measure]
            found[f"{name}: {report.ROW_NAMES.get(row, row)}"] = (one["mean"], one["low"], one["high"])
    questions = next(iter(results.values()))["queries"]
    figures.forest(found, f"{measure}, mean and 95 % interval ({questions} questions)", path)
