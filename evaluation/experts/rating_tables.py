"""Any table of ratings from a CSV, and every coefficient of agreement that its form allows."""

import csv
import math
from pathlib import Path

from evaluation.agreement import KINDS, Agreement, agreement, from_counts, from_table
from evaluation.jsonl import DatasetError
from evaluation.report import Table

MISSING = ("", "na", "nan")
Rows = list[list[float | None]]


def read(path: Path) -> Rows:
    """The numbers below a CSV's heading; None where there is none. Raises DatasetError naming the line."""
    if not path.is_file():
        raise DatasetError(path, 0, "is missing")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            heading, *lines = list(csv.reader(file)) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(path, 0, f"cannot be read as CSV ({type(error).__name__})") from None
    found = []
    for number, line in enumerate(lines, 2):
        if len(line) != len(heading):
            raise DatasetError(path, number, f"has {len(line)} columns, the heading has {len(heading)}")
        found.append([_value(cell, path, number) for cell in line])
    if not found:
        raise DatasetError(path, 0, "has no ratings below a heading")
    return found


def coefficients(rows: Rows, form: str, weights: str, path: Path) -> dict[str, Agreement]:
    """Each coefficient by its name. Raises DatasetError for a table that is not of this form."""
    try:
        if form == "ratings":
            scale = sorted({value for row in rows for value in row if value is not None})
            return {kind: agreement(rows, scale, weights, kind) for kind in KINDS}
        counts = [[_count(value) for value in row] for row in rows]
        if form == "counts":
            return {kind: from_counts(counts, weights, kind) for kind in KINDS if kind != "conger"}
        if any(len(row) != len(counts) for row in counts):
            raise ValueError("a contingency table has as many columns as rows")
        return {kind: from_table(counts, weights, kind) for kind in KINDS}
    except ValueError as error:
        raise DatasetError(path, 0, str(error)) from None


def table(found: dict[str, Agreement]) -> Table:
    """A row per coefficient."""
    body = [
        [kind, f"{one.value:.4f}", f"{one.error:.4f}", f"{one.low:.3f}–{one.high:.3f}", one.level]
        for kind, one in found.items()
    ]
    return ["coefficient", "value", "standard error", "95 %", "is"], body


def _value(cell: str, path: Path, line: int) -> float | None:
    if cell.strip().lower() in MISSING:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DatasetError(path, line, f"{cell!r} is no rating")
    return value


def _count(value: float | None) -> int:
    if value is None or value < 0 or value != int(value):
        raise ValueError("a table of counts holds whole numbers from 0 only")
    return int(value)
