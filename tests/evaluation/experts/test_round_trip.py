"""A whole study on simulated raters: planned, filled in, imported, reported; and sheets that are wrong."""

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from cli import evaluate
from cli.exits import Exit
from evaluation.agreement import agreement
from evaluation.experts import ratings, sheets
from evaluation.experts.plan import Plan, planned
from evaluation.jsonl import DatasetError
from tests.cli.screens import err, out, pipe
from tests.evaluation.experts.simulated import fill_in, grade, questions, raters


def study_files(folder: Path, count: int) -> tuple[Path, Path]:
    asked, experts = folder / "questions.jsonl", folder / "raters.csv"
    asked.write_text("\n".join(json.dumps(vars(q) | {"sources": list(q.sources)}) for q in questions(count)))
    experts.write_text("rater,department\n" + "".join(f"{r.name},{r.department}\n" for r in raters()))
    return asked, experts


async def radrag(*words: object) -> tuple[int, str]:
    screen = pipe()
    given = argparse.Namespace(words=[str(word) for word in words])
    status = await evaluate.run(given, screen, {})
    return status, out(screen) + err(screen)


@pytest.mark.parametrize("p", [0.9, 0.5])
async def test_known_agreement_is_recovered_within_its_interval(tmp_path: Path, p: float) -> None:
    study = tmp_path / "study"
    status, said = await radrag("experts", "plan", *study_files(tmp_path, 60), study, "--seed", 7)
    assert (status, "24 sheets" in said) == (Exit.OK, True)
    fill_in(study / "sheets", p, seed=11)
    judge = tmp_path / "judge.json"
    judge.write_text(json.dumps({"scores": {"contextual_precision": {q.id: 0.5 for q in questions(60)}}}))
    status, said = await radrag("experts", "import", study, study / "sheets")
    # 60 questions × 6 raters × (3 criteria + 3 sources)
    assert (status, said.split()[0]) == (Exit.OK, "2160")
    status, said = await radrag("experts", "report", study, "--json", "--judge", judge)
    found = json.loads(said)
    assert status == Exit.OK
    for one in found["criteria"]:
        assert sum(one["counts"].values()) == (1080 if one["criterion"] == "usefulness" else 360)
    pairs = [one[coefficient] for one in found["criteria"] for coefficient in ("ac1", "ac2")]
    # One interval in twenty misses the truth, by its definition: of eight, one may.
    assert sum(one["low"] <= p**2 <= one["high"] for one in pairs) >= 7
    assert {one["between"] for one in found["between"]} == {"group", "department"}
    assert "constant" in found["judge"]["contextual_precision – expert contextual precision"]["note"]
    status, said = await radrag("experts", "report", study, "--markdown")
    assert said.count("| usefulness |") == 3


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    held, draw = 0, random.Random(5)
    for _ in range(200):
        rows = [[grade(draw, true, 0.7) for _ in range(6)] for true in draw.choices(range(1, 6), k=40)]
        found = agreement(rows, [1, 2, 3, 4, 5])
        held += found.low <= 0.49 <= found.high
    assert 0.90 <= held / 200 <= 0.99


@pytest.fixture
def sent(tmp_path: Path) -> tuple[Plan, Path]:
    """A small plan, and its sheets, filled in."""
    made = planned(questions(12, sources=2), raters(8), seed=1)
    sheets.write(made, tmp_path)
    fill_in(tmp_path, 0.8, seed=1)
    return made, tmp_path


def test_empty_cells_and_absent_raters_are_counted(sent: tuple[Plan, Path]) -> None:
    made, folder = sent
    first, second, *_ = sorted(folder.glob("*.xlsx"))
    edit(first, "Answers", lambda sheet: sheet.__setitem__("D2", None))
    second.unlink()
    found = ratings.import_sheets(made, folder)
    assert found.empty == 1
    assert len(found.absent) == 1
    assert len(found.ratings) == 7 * 3 * (3 + 2) - 1


def test_a_text_that_looks_like_a_formula_stays_a_text(sent: tuple[Plan, Path]) -> None:
    book = load_workbook(next(sent[1].glob("*.xlsx")))
    assert (book["Answers"]["C2"].value, book["Answers"]["C2"].data_type) == (
        "=1+1 is an answer, not a formula",
        "s",
    )


def test_cells_to_fill_in_are_validated_and_open_and_the_rest_is_locked(sent: tuple[Plan, Path]) -> None:
    sheet = load_workbook(next(sent[1].glob("*.xlsx")))["Answers"]
    rules = sheet.data_validations.dataValidation
    assert [(rule.type, rule.operator, rule.formula1, rule.formula2) for rule in rules] == [
        ("whole", "between", "1", "5")
    ] * 3
    assert sheet.protection.sheet
    assert (sheet["A2"].protection.locked, sheet["D2"].protection.locked) == (True, False)


def edit(path: Path, sheet: str, change: Callable[[Any], object]) -> None:
    book = load_workbook(path)
    change(book[sheet])
    book.save(path)


WRONG: list[tuple[str, Callable[[Any], object], str]] = [
    ("Answers", lambda s: s.__setitem__("D2", 6), r"Answers!D2: correctness is 6; .* from 1 to 5"),
    ("Answers", lambda s: s.__setitem__("E3", "good"), r"Answers!E3: completeness is 'good'"),
    ("Answers", lambda s: s.__setitem__("D2", 2.5), r"Answers!D2: correctness is 2.5"),
    ("Answers", lambda s: s.__setitem__("A2", "q999"), r"Answers!A2: question 'q999' is not this rater's"),
    ("Answers", lambda s: s.__setitem__("A3", s["A2"].value), "is not this rater's, or stands twice"),
    ("Answers", lambda s: s.delete_rows(2), "Answers: question 'q.*' is gone"),
    ("Answers", lambda s: s.__setitem__("D1", "mood"), "Answers!1: the columns are"),
    ("Sources", lambda s: s.__setitem__("C2", "first"), "Sources!A2: question 'q.*' is not this rater's"),
    ("Study", lambda s: s.__setitem__("A1", "0123"), "belongs to the study 0123, not to"),
    ("Study", lambda s: s.__setitem__("C1", "Nobody"), "the plan has no rater 'Nobody'"),
    ("Study", lambda s: s.__setitem__("B1", "mood"), "is not a rating sheet"),
]


@pytest.mark.parametrize(("sheet", "change", "message"), WRONG)
def test_a_wrong_sheet_is_named_by_file_sheet_and_cell(
    sent: tuple[Plan, Path], sheet: str, change: Callable[[Any], object], message: str
) -> None:
    made, folder = sent
    edit(sorted(folder.glob("*.xlsx"))[0], sheet, change)
    with pytest.raises(DatasetError, match=rf"group-1-rater-1.xlsx: .*{message}|.*{message}"):
        ratings.import_sheets(made, folder)


def test_files_that_are_no_sheets_are_named(sent: tuple[Plan, Path]) -> None:
    made, folder = sent
    (folder / "a.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(DatasetError, match="cannot be read as XLSX"):
        ratings.import_sheets(made, folder)
    (folder / "a.xlsx").write_bytes((folder / "group-1-rater-1.xlsx").read_bytes())
    with pytest.raises(DatasetError, match=r"has sent a\.xlsx already"):
        ratings.import_sheets(made, folder)
    with pytest.raises(DatasetError, match=r"has no \.xlsx"):
        ratings.import_sheets(made, folder / "nowhere")


async def test_the_hallucination_review_has_two_grades(tmp_path: Path) -> None:
    words = ("experts", "plan", *study_files(tmp_path, 24), tmp_path / "s", "--study", "hallucinations")
    assert (await radrag(*words))[0] == Exit.OK
    for path in (tmp_path / "s" / "sheets").glob("*.xlsx"):
        book = load_workbook(path)
        assert book.sheetnames == ["Answers", "Study"]
        for row in book["Answers"].iter_rows(min_row=2):
            row[3].value = int(row[0].value == "q001")
        book.save(path)
    assert (await radrag("experts", "import", tmp_path / "s", tmp_path / "s" / "sheets"))[0] == Exit.OK
    status, said = await radrag("experts", "report", tmp_path / "s")
    assert status == Exit.OK
    assert "0:138 1:6" in said
    assert "1.00 (1.00–1.00)" in said


async def test_wrong_input_ends_with_a_usage_error(tmp_path: Path) -> None:
    asked, experts = study_files(tmp_path, 4)
    experts.write_text("rater,department\nA,CT\n")
    status, said = await radrag("experts", "plan", asked, experts, tmp_path / "s")
    assert status == Exit.USAGE
    assert "4 groups need 8 raters at least; there are 1" in said
    status, said = await radrag("experts", "report", tmp_path)
    assert (status, "make it with" in said) == (Exit.USAGE, True)
    assert (await radrag("sample-size", "--margin", "0"))[0] == Exit.USAGE
    assert await radrag("sample-size", "--population", "1000") == (Exit.OK, "278\n")
