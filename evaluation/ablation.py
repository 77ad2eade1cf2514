"""Grids of configurations: what a file asks for, cell by cell, and the table the cells add up to."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import yaml

from evaluation.jsonl import DatasetError
from evaluation.report import ROW_NAMES, Table

KEYS = {"dataset", "split", "limit", "measures", "settings", "each", "cells"}
Values = dict[str, object]


@dataclass(frozen=True)
class Cell:
    """One configuration: settings and options by name, over one data set."""

    name: str
    values: Values

    def key(self, grid: "Grid") -> str:
        """What its result is kept under: another question or configuration is another file."""
        asked = [grid.dataset, grid.split, grid.limit, list(grid.measures), self.values]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Grid:
    """A file's cells, all on the same questions."""

    dataset: str
    split: str
    limit: int
    measures: tuple[str, ...]
    cells: tuple[Cell, ...]


def read(path: Path, known: Collection[str]) -> Grid:
    """Reads a grid. `known` are the names a cell may set. Raises DatasetError naming what it does not know.

    `settings` hold in every cell; `each` is crossed, name by name; `cells` are single ones, with a `name`.
    """
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DatasetError(path, 0, f"cannot be read ({type(error).__name__})") from None
    if not isinstance(given, dict) or not isinstance(given.get("dataset"), str):
        raise DatasetError(path, 0, "needs dataset: a folder")
    if strange := set(given) - KEYS:
        raise DatasetError(path, 0, f"{sorted(strange)[0]!r} is none of {', '.join(sorted(KEYS))}")
    cells = _cells(given)
    for cell in cells:
        if unknown := set(cell.values) - set(known):
            raise DatasetError(path, 0, f"cell {cell.name!r}: {sorted(unknown)[0]!r} is no setting or option")
    measures = tuple(map(str, given.get("measures", ["nDCG@10", "P@1", "R@5"])))
    return Grid(given["dataset"], str(given.get("split", "")), int(given.get("limit", 0)), measures, cells)


def _cells(given: Mapping[str, object]) -> tuple[Cell, ...]:
    fixed, each, single = (given.get(name) or {} for name in ("settings", "each", "cells"))
    assert isinstance(fixed, dict)
    assert isinstance(each, dict)
    crossed = [dict(zip(each, values, strict=True)) for values in product(*each.values())] if each else []
    cells = [Cell(" ".join(f"{k}={v}" for k, v in one.items()), fixed | one) for one in crossed]
    for one in single if isinstance(single, list) else []:
        values = {name: value for name, value in one.items() if name != "name"}
        cells.append(Cell(str(one.get("name", values)), fixed | values))
    return tuple(cells or [Cell("as set", dict(fixed))])


def table(results: Mapping[str, Mapping[str, object]], measures: Sequence[str]) -> Table:
    """A row per cell and ranking: mean and interval of each measure."""
    body: list[list[str]] = []
    for name, result in results.items():
        rows = result["rows"]
        assert isinstance(rows, dict)
        for row, values in rows.items():
            figures = [_figure(values[measure]) if measure in values else "" for measure in measures]
            body.append([name, ROW_NAMES.get(str(row), str(row)), *figures])
    return ["configuration", "ranking", *measures], body


def _figure(one: Mapping[str, float]) -> str:
    return f"{one['mean']:.3f} ({one['low']:.3f}–{one['high']:.3f})"
