"""Grids of configurations: what a file asks for, cell by cell, and the table the cells add up to."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from evaluation.jsonl import DatasetError
from evaluation.report import ROW_NAMES, Table
from radrag.yaml_file import content_of

KEYS = {"dataset", "frozen", "split", "limit", "measures", "settings", "each", "cells"}
Values = dict[str, object]


@dataclass(frozen=True)
class Cell:
    """One configuration: settings and options by name, over one data set."""

    name: str
    values: Values

    def key(self, grid: "Grid") -> str:
        """What its result is kept under: another question or configuration is another file."""
        asked = [list(grid.datasets), grid.frozen, grid.split, grid.limit, list(grid.measures), self.values]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Grid:
    """A file's cells, all on the same questions. `frozen` is a file of answers whose sources are kept."""

    datasets: tuple[str, ...]  # several are mixed
    split: str
    limit: int
    measures: tuple[str, ...]
    cells: tuple[Cell, ...]
    frozen: str = ""


def read(path: Path, known: Collection[str], of_frozen: Collection[str] = ()) -> Grid:
    """Reads a grid. `known` are the names a cell may set, `of_frozen` those over frozen sources. Raises
    DatasetError naming what it does not know.

    `settings` hold in every cell; `each` is crossed, name by name; `cells` are single ones, with a `name`.
    `dataset` is a folder, or a list of folders, which are mixed.
    """
    given = _given(path)
    frozen = given.get("frozen", "")
    datasets = _datasets(path, given) if not frozen else ()
    if not isinstance(frozen, str) or (frozen and "dataset" in given):
        raise DatasetError(path, 0, "frozen is a file of answers, and stands instead of dataset")
    cells, limit = _cells(path, given, of_frozen if frozen else known), given.get("limit", 0)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise DatasetError(path, 0, f"limit is {limit!r}, not a number of questions")
    return Grid(datasets, str(given.get("split", "")), limit, _measures(path, given), cells, frozen)


def configuration(path: Path, known: Collection[str]) -> tuple[list[str], Values]:
    """The measures and the values of a file with one cell; its data set, if any, is not looked at."""
    given = _given(path)
    cells = _cells(path, given, known)
    if len(cells) != 1:
        raise DatasetError(path, 0, f"has {len(cells)} configurations; `radrag eval ablate` runs them all")
    return list(_measures(path, given)) if "measures" in given else [], cells[0].values


def _datasets(path: Path, given: Mapping[str, object]) -> tuple[str, ...]:
    named = given.get("dataset")
    datasets = [named] if isinstance(named, str) else named
    if not isinstance(datasets, list) or not datasets or not all(isinstance(one, str) for one in datasets):
        raise DatasetError(path, 0, "needs dataset: a folder, or a list of them")
    return tuple(datasets)


def _given(path: Path) -> Mapping[str, object]:
    try:
        given = content_of(path)
    except (OSError, ValueError) as error:
        raise DatasetError(path, 0, f"cannot be read ({type(error).__name__})") from None
    if not isinstance(given, dict):
        raise DatasetError(path, 0, "is not a mapping of names")
    if strange := sorted(map(str, set(given) - KEYS)):
        raise DatasetError(path, 0, f"{strange[0]!r} is none of {', '.join(sorted(KEYS))}")
    return given


def _measures(path: Path, given: Mapping[str, object]) -> tuple[str, ...]:
    measures = given.get("measures", ["nDCG@10", "P@1", "R@5"])
    if not isinstance(measures, list) or not measures:
        raise DatasetError(path, 0, "measures is not a list of names")
    return tuple(map(str, measures))


def _cells(path: Path, given: Mapping[str, object], known: Collection[str]) -> tuple[Cell, ...]:
    cells = _made(path, given)
    names = [cell.name for cell in cells]
    for cell in cells:
        if unknown := sorted(set(cell.values) - set(known)):
            raise DatasetError(path, 0, f"cell {cell.name!r}: {unknown[0]!r} is no setting or option")
        if names.count(cell.name) > 1:
            raise DatasetError(path, 0, f"two cells are named {cell.name!r}")
    return cells


def _made(path: Path, given: Mapping[str, object]) -> tuple[Cell, ...]:
    fixed, each, single = given.get("settings") or {}, given.get("each") or {}, given.get("cells") or []
    if not isinstance(fixed, dict):
        raise DatasetError(path, 0, "settings is not a mapping")
    if not isinstance(each, dict) or not all(isinstance(values, list) for values in each.values()):
        raise DatasetError(path, 0, "each is not a mapping of names to lists")
    if not isinstance(single, list) or not all(isinstance(one, dict) for one in single):
        raise DatasetError(path, 0, "cells is not a list of mappings")
    crossed = [dict(zip(each, values, strict=True)) for values in product(*each.values())] if each else []
    cells = [Cell(" ".join(f"{k}={v}" for k, v in one.items()), fixed | one) for one in crossed]
    for one in single:
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
