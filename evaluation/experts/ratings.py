"""Ratings read back from sheets and from the console's form, with errors that name file, sheet and cell."""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from evaluation.experts.plan import Plan
from evaluation.experts.sheets import ANSWERS, STUDIES, STUDY, Criterion, columns, criteria_of
from evaluation.jsonl import DatasetError, rows


@dataclass(frozen=True)
class Rating:
    """One rating; `rank` is the source's place from 1, 0 when the answer was rated."""

    rater: str
    question: str
    criterion: str
    value: int
    rank: int = 0


@dataclass(frozen=True)
class Imported:
    """The ratings of some sheets, how many cells were left empty, and who sent no sheet."""

    study: str
    ratings: tuple[Rating, ...]
    empty: int
    absent: tuple[str, ...]


def import_sheets(plan: Plan, folder: Path) -> Imported:
    """Reads every workbook (.xlsx) and every file of the console's form (.jsonl) of a folder.

    Raises DatasetError at the first thing that is wrong.
    """
    paths = sorted(path for path in folder.glob("*.xlsx") if not path.name.startswith("~$"))
    forms = sorted(folder.glob("*.jsonl"))
    if not paths and not forms:
        raise DatasetError(folder, 0, "has no .xlsx and no .jsonl")
    ratings, empty, seen = list[Rating](), 0, dict[str, Path]()
    studies = set()
    for path in forms:
        for rater, own in form(plan, path).items():
            _once(rater, path, seen)
            studies.add(_study_of(own, path))
            ratings += own
            empty += _wanted(plan, rater, criteria_of(_study_of(own, path))) - len(own)
    for path in paths:
        book = _opened(path)
        study, rater = _identity(plan, book, path)
        _once(rater, path, seen)
        studies.add(study)
        values = list(_values(plan, book, path, rater, criteria_of(study)))
        ratings += [one for one in values if one is not None]
        empty += values.count(None)
    if len(studies) > 1:
        raise DatasetError(folder, 0, f"holds sheets of several studies: {', '.join(sorted(studies))}")
    absent = [rater.name for group in plan.groups for rater in group if rater.name not in seen]
    return Imported(studies.pop(), tuple(ratings), empty, tuple(absent))


def form(plan: Plan, path: Path) -> dict[str, list[Rating]]:
    """Rater → ratings of a file that the console's form wrote. Raises DatasetError."""
    found: dict[str, list[Rating]] = {}
    for one in checked(plan, read(path), path):
        found.setdefault(one.rater, []).append(one)
    return found


def checked(plan: Plan, ratings: Sequence[Rating], path: Path) -> Sequence[Rating]:
    """The ratings, if the plan asked for each of them, once. Raises DatasetError."""
    sources = {question.id: len(question.sources) for question in plan.questions}
    sheets = {one.name: one.sheet for some in STUDIES.values() for one in some}
    seen = set()
    for one in ratings:
        group = plan.rater_group(one.rater)
        if group is None:
            raise DatasetError(path, 0, f"the plan has no rater {one.rater!r}")
        if plan.group_of.get(one.question) != group:
            raise DatasetError(path, 0, f"question {one.question!r} is not for {one.rater!r} to rate")
        if one.rank not in _ranks(sheets[one.criterion], sources[one.question]):
            raise DatasetError(path, 0, f"question {one.question!r} has no source {one.rank} to rate")
        key = (one.rater, one.question, one.criterion, one.rank)
        if key in seen:
            raise DatasetError(path, 0, f"{one.rater!r} rates {one.criterion} of {one.question!r} twice")
        seen.add(key)
    return ratings


def _once(rater: str, path: Path, seen: dict[str, Path]) -> None:
    if rater in seen:
        raise DatasetError(path, 0, f"{rater} has sent {seen[rater].name} already")
    seen[rater] = path


def _study_of(ratings: Sequence[Rating], path: Path) -> str:
    named = {one.criterion for one in ratings}
    fitting = [study for study, some in STUDIES.items() if named <= {one.name for one in some}]
    if not fitting:
        raise DatasetError(path, 0, f"mixes several studies: {', '.join(sorted(named))}")
    return fitting[0]


def _wanted(plan: Plan, rater: str, criteria: Sequence[Criterion]) -> int:
    """How many ratings the plan asks of a rater."""
    group = plan.rater_group(rater)
    assert group is not None
    questions = plan.questions_of(group)
    return sum(len(_ranks(one.sheet, len(question.sources))) for question in questions for one in criteria)


def write(imported: Imported, path: Path) -> None:
    """Keeps ratings as JSONL, one a line."""
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in imported.ratings]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: Path) -> list[Rating]:
    """Reads ratings as `write` wrote them. Raises DatasetError."""
    scales = {one.name: one for some in STUDIES.values() for one in some}
    found = []
    for row in rows(path):
        name, value, rank = row.text("criterion"), row.values.get("value"), row.values.get("rank", 0)
        if name not in scales:
            raise row.error(f"criterion is {name!r}; it must be one of {', '.join(scales)}")
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 0:
            raise row.error(f"rank is {rank!r}; it must be a whole number from 0")
        if (whole := _whole(value, scales[name])) is None:
            raise row.error(f"value is {value!r}; {_limits(scales[name])}")
        found.append(Rating(row.text("rater"), row.id("question"), name, whole, rank))
    if not found:
        raise DatasetError(path, 0, "has no ratings")
    return found


# What a file that only looks like a workbook makes its reader raise: its container, its compression, its XML.
BROKEN = (
    BadZipFile, InvalidFileException, NotImplementedError, KeyError, ValueError, TypeError, OSError, EOFError,
    SyntaxError, zlib.error,
)  # fmt: skip


def _opened(path: Path) -> Any:
    try:
        return load_workbook(path, data_only=True)
    except BROKEN as error:
        raise DatasetError(path, 0, f"cannot be read as XLSX ({type(error).__name__})") from None


def _identity(plan: Plan, book: Any, path: Path) -> tuple[str, str]:
    """The kind of study and the rater a workbook was made for."""
    given = [cell.value for cell in book[STUDY][1]] if STUDY in book.sheetnames else []
    if len(given) != 3 or given[1] not in STUDIES:
        raise DatasetError(path, 0, "is not a rating sheet: its hidden sheet is gone")
    if given[0] != plan.study:
        raise DatasetError(path, 0, f"belongs to the study {given[0]}, not to {plan.study}")
    if plan.rater_group(str(given[2])) is None:
        raise DatasetError(path, 0, f"the plan has no rater {given[2]!r}")
    return str(given[1]), str(given[2])


def _values(
    plan: Plan, book: Any, path: Path, rater: str, criteria: Sequence[Criterion]
) -> Iterator[Rating | None]:
    """A rating, or None for an empty cell, for each cell that was to be filled in."""
    group = plan.rater_group(rater)
    assert group is not None
    questions = plan.questions_of(group)
    for sheet in dict.fromkeys(one.sheet for one in criteria):
        if sheet not in book.sheetnames:
            raise DatasetError(path, 0, f"the sheet {sheet} is gone")
        asked = [one for one in criteria if one.sheet == sheet]
        wanted = [(q.id, rank) for q in questions for rank in _ranks(sheet, len(q.sources))]
        yield from _sheet(book[sheet], path, rater, asked, wanted)


def _ranks(sheet: str, sources: int) -> range:
    return range(1) if sheet == ANSWERS else range(1, sources + 1)


def _sheet(
    sheet: Any, path: Path, rater: str, asked: Sequence[Criterion], wanted: Sequence[tuple[str, int]]
) -> Iterator[Rating | None]:
    fixed = columns(sheet.title)
    headings = [cell.value for cell in sheet[1]][fixed : fixed + len(asked)]
    if headings != [one.name for one in asked]:
        raise DatasetError(path, 0, f"{sheet.title}!1: the columns are {headings}, not as they were sent")
    expected = set(wanted)
    for row in sheet.iter_rows(min_row=2):
        if all(cell.value is None for cell in row):
            continue
        key = (str(row[0].value), row[2].value if fixed == 4 else 0)
        if key not in expected:
            where = f"{sheet.title}!{row[0].coordinate}"
            raise DatasetError(path, 0, f"{where}: question {key[0]!r} is not this rater's, or stands twice")
        expected.remove(key)
        for one, cell in zip(asked, row[fixed:], strict=False):
            value = _read(cell, path, sheet.title, one)
            yield None if value is None else Rating(rater, key[0], one.name, value, key[1])
    if expected:
        raise DatasetError(path, 0, f"{sheet.title}: question {sorted(expected)[0][0]!r} is gone")


def _read(cell: Any, path: Path, sheet: str, one: Criterion) -> int | None:
    if cell.value is None or (isinstance(cell.value, str) and not cell.value.strip()):
        return None
    if (value := _whole(cell.value, one)) is None:
        where = f"{sheet}!{cell.coordinate}"
        raise DatasetError(path, 0, f"{where}: {one.name} is {cell.value!r}; {_limits(one)}")
    return value


def _whole(value: object, one: Criterion) -> int | None:
    """The value as a whole number of the scale; None for anything else. A sheet keeps 4 as 4.0 at times."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if one.low <= value <= one.high and value == int(value) else None


def _limits(one: Criterion) -> str:
    return f"it must be a whole number from {one.low} to {one.high}"
