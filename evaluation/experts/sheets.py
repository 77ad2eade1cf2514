"""Rating sheets as XLSX, a workbook per rater: open cells accept only the scale, the others are locked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from evaluation.experts.plan import Plan, RatedQuestion

ANSWERS, SOURCES, STUDY = "Answers", "Sources", "Study"
LIKERT, BINARY = (1, 5), (0, 1)
WIDE, NARROW = 60, 14  # characters
OPEN = PatternFill("solid", fgColor="FFF2CC")


@dataclass(frozen=True)
class Criterion:
    """What is rated: of an answer or of each source, in whole numbers from `low` to `high`."""

    name: str
    sheet: str
    low: int
    high: int
    help: str


RATINGS = (
    Criterion("correctness", ANSWERS, *LIKERT, "1 wrong … 5 wholly right"),
    Criterion("completeness", ANSWERS, *LIKERT, "1 misses what matters … 5 nothing is missing"),
    Criterion("clarity", ANSWERS, *LIKERT, "1 cannot be used as it is written … 5 clear at once"),
    Criterion("usefulness", SOURCES, *LIKERT, "1 of no use for the answer … 5 decisive"),
)
HALLUCINATIONS = (
    Criterion("hallucination", ANSWERS, *BINARY, "1 says something that no source says; 0 does not"),
)
STUDIES = {"ratings": RATINGS, "hallucinations": HALLUCINATIONS}


def criteria_of(study: str) -> tuple[Criterion, ...]:
    """What a kind of study rates. Raises ValueError for another kind."""
    if study not in STUDIES:
        raise ValueError(f"the study {study!r} is none of {', '.join(STUDIES)}")
    return STUDIES[study]


def write(plan: Plan, folder: Path, study: str = "ratings") -> list[Path]:
    """A workbook for each rater, named after the group and the rater's place in it: names stay inside."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for group, raters in enumerate(plan.groups):
        for place, rater in enumerate(raters, 1):
            book = workbook(plan, group, rater.name, criteria_of(study), study)
            paths.append(folder / f"group-{group + 1}-rater-{place}.xlsx")
            book.save(paths[-1])
    return paths


def workbook(plan: Plan, group: int, rater: str, criteria: Sequence[Criterion], study: str) -> Workbook:
    """One rater's workbook."""
    book = Workbook()
    book.remove(book.active)
    questions = plan.questions_of(group)
    for sheet, headings, lines in (
        (ANSWERS, ["question", "text", "answer"], [_answer_line(one) for one in questions]),
        (SOURCES, ["question", "text", "rank", "source"], _source_lines(questions)),
    ):
        asked = [one for one in criteria if one.sheet == sheet]
        if asked:
            _fill(book.create_sheet(sheet), headings, lines, asked)
    hidden = book.create_sheet(STUDY)
    hidden.append([plan.study, study, rater])
    hidden.sheet_state = "hidden"
    return book


def columns(sheet: str) -> int:
    """How many columns stand before the ratings."""
    return 3 if sheet == ANSWERS else 4


def _answer_line(one: RatedQuestion) -> list[str | int]:
    return [one.id, one.question, one.answer]


def _source_lines(questions: Sequence[RatedQuestion]) -> list[list[str | int]]:
    return [[q.id, q.question, rank, text] for q in questions for rank, text in enumerate(q.sources, 1)]


def _fill(
    sheet: Any, headings: Sequence[str], lines: Sequence[Sequence[str | int]], asked: Sequence[Criterion]
) -> None:
    sheet.append([*headings, *(one.name for one in asked), "remark"])
    for line in lines:
        sheet.append([*map(_writable, line), *([None] * (len(asked) + 1))])
        for cell in sheet[sheet.max_row]:
            # A text that begins with "=" is a text; a workbook from elsewhere runs nothing.
            if isinstance(cell.value, str):
                cell.data_type = "s"
    _dress(sheet, len(headings), len(asked))
    for place, one in enumerate(asked, len(headings) + 1):
        letter = get_column_letter(place)
        _validate(sheet, f"{letter}2:{letter}{max(2, sheet.max_row)}", one)


def _writable(value: str | int) -> str | int:
    """Without the control characters that XLSX cannot hold."""
    return ILLEGAL_CHARACTERS_RE.sub("", value) if isinstance(value, str) else value


def _dress(sheet: Any, fixed: int, asked: int) -> None:
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for number, cells in enumerate(sheet.iter_cols(), 1):
        wide = str(cells[0].value) in {"text", "answer", "source", "remark"}
        sheet.column_dimensions[get_column_letter(number)].width = WIDE if wide else NARROW
        for cell in cells[1:]:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if number > fixed:
                cell.protection, cell.fill = Protection(locked=False), OPEN
    sheet.freeze_panes = sheet.cell(2, 2)
    sheet.protection.sheet = True
    sheet.protection.formatColumns = False


def _validate(sheet: Any, cells: str, one: Criterion) -> None:
    rule = DataValidation(
        type="whole", operator="between", formula1=one.low, formula2=one.high, allow_blank=True
    )
    rule.showErrorMessage = rule.showInputMessage = True
    rule.error = f"{one.name}: a whole number from {one.low} to {one.high}"
    rule.errorTitle, rule.promptTitle, rule.prompt = "Not on the scale", one.name, one.help
    rule.add(cells)
    sheet.add_data_validation(rule)
