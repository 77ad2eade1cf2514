"""`radrag eval ablate GRID.yaml`: configurations on the same questions; cut off, it goes on where it was."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cli import evaluate, evaluate_configuration, evaluate_depth, evaluate_retrieval
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import ablation, figures, report
from evaluation.ablation import Cell, Grid
from evaluation.jsonl import DatasetError
from radrag.settings import SettingError


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Runs the cells that have no result yet, then writes table.md and forest.png beside the results."""
    grid = _read(given)
    given.out.mkdir(parents=True, exist_ok=True)
    for cell in grid.cells:  # a typing error is found before an hour of work
        _checked(cell, grid)
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


def _read(given: argparse.Namespace) -> Grid:
    grid = ablation.read(given.grid, evaluate_configuration.KNOWN, evaluate_depth.KNOWN)
    if given.dataset and grid.frozen:
        if len(given.dataset) > 1:
            raise DatasetError(given.grid, 0, "is over frozen answers: one file of them")
        grid = replace(grid, frozen=str(given.dataset[0]))
    elif given.dataset:
        grid = replace(grid, datasets=tuple(map(str, given.dataset)), split=given.split)
    return replace(grid, limit=given.limit or grid.limit)


def _checked(cell: Cell, grid: Grid) -> None:
    if not grid.frozen:
        _asked(cell, grid)
        return
    evaluate_depth.checked(cell, grid)
    if not Path(grid.frozen).is_file():
        raise DatasetError(Path(grid.frozen), 0, "is missing: `radrag eval answers … --out` keeps answers")


async def _result(
    cell: Cell, grid: Grid, given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]
) -> dict[str, object]:
    kept = given.out / f"{cell.key(grid)}.json"
    if kept.exists():
        result = dict(json.loads(kept.read_text(encoding="utf-8")))
        if result["data_sha256"] == _sha256(cell, grid):
            return result
        screen.note(f"{cell.name}: the data has changed, it is measured again")
    try:
        values = await _measured(cell, grid, given.command, screen, environ)
    except SettingError as error:
        raise DatasetError(given.grid, 0, f"cell {cell.name!r}: {error}") from None
    text = json.dumps({"cell": cell.name, **values}, ensure_ascii=False, default=vars)
    # Whole or not at all: a result cut off must not pass for one.
    half = kept.with_suffix(".half")
    half.write_text(text, encoding="utf-8")
    half.replace(kept)
    return dict(json.loads(text))


def _sha256(cell: Cell, grid: Grid) -> str:
    return (
        evaluate_depth.sha256(grid) if grid.frozen else evaluate_retrieval.dataset(_asked(cell, grid)).sha256
    )


async def _measured(
    cell: Cell, grid: Grid, command: str, screen: Terminal, environ: Mapping[str, str]
) -> dict[str, object]:
    if grid.frozen:
        return await evaluate_depth.measured(cell, grid, command, screen, environ)
    around = {**environ, **evaluate_configuration.environment(cell.values)}
    values, _ = await evaluate_retrieval.measured(_asked(cell, grid), screen, around)
    return {**values, "command": command}  # the cell's own words would lack its settings


def _asked(cell: Cell, grid: Grid) -> argparse.Namespace:
    """The words of `radrag eval retrieval` that this cell stands for."""
    words = ["retrieval", *grid.datasets, f"--split={grid.split}", f"--limit={grid.limit}"]
    words += ["--mixed"] if len(grid.datasets) > 1 else []
    words += [f"--measure={name}" for name in grid.measures]
    words += evaluate_configuration.words(cell.values)
    try:
        return evaluate.parsed([*words, "--json"])
    except SystemExit:  # argparse has said which option, and what it may be
        raise DatasetError(Path(grid.datasets[0]), 0, f"cell {cell.name!r} cannot be asked for") from None


def _plot(results: Mapping[str, Mapping[str, object]], grid: Grid, path: Path) -> None:
    measure = grid.measures[0]
    found = {}
    for name, result in results.items():
        rows = result["rows"]
        assert isinstance(rows, dict)
        for row, values in rows.items():
            if measure not in values:  # this cell had nothing it could be measured on
                continue
            one = values[measure]
            found[f"{name}: {report.ROW_NAMES.get(row, row)}"] = (one["mean"], one["low"], one["high"])
    questions = next(iter(results.values()))["queries"]
    figures.forest(found, f"{measure}, mean and 95 % interval ({questions} questions)", path)
