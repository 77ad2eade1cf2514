"""A whole study on simulated raters: planned, filled in, imported, reported; and sheets that are wrong."""

import argparse
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from cli import evaluate
from cli.exits import Exit
from evaluation.agreement import agreement
from evaluation.experts import ratings, sheets
from evaluation.experts.plan import Plan, planned
from evaluation.experts.plan import read as plan_of
from evaluation.experts.plan import write as write_plan
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


def test_a_sheet_with_damaged_bytes_is_read_or_named(sent: tuple[Plan, Path]) -> None:
    made, folder = sent
    path, dice = sorted(folder.glob("*.xlsx"))[0], random.Random(7)
    whole = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(8):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged)
        with suppress(DatasetError):
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


def without_sheets(folder: Path, count: int) -> Plan:
    """A plan for the console's form: workbooks take their time."""
    made = planned(questions(count), raters(), seed=7)
    folder.mkdir()
    write_plan(made, folder / "plan.json")
    return made


def by_form(folder: Path, made: Plan, rater: str, p: float = 0.9) -> Path:
    """What the console's form writes for a rater, as rate.js writes it."""
    group = made.rater_group(rater)
    assert group is not None
    draw, rows = random.Random(rater), []
    for question in made.questions_of(group):
        asked = [(name, 0) for name in ("correctness", "completeness", "clarity")]
        asked += [("usefulness", rank) for rank in range(1, len(question.sources) + 1)]
        for name, rank in asked:
            true = 1 + random.Random(f"{question.id}{name}{rank}").randrange(5)
            value = grade(draw, true, p)
            fixed = {"rater": rater, "question": question.id, "criterion": name}
            rows.append(fixed | {"value": value, "rank": rank})
    path = folder / f"{rater}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


async def test_the_console_s_form_recovers_known_agreement_as_sheets_do(tmp_path: Path) -> None:
    study, returned, p = tmp_path / "study", tmp_path / "returned", 0.8
    made = without_sheets(study, 60)
    returned.mkdir()
    for group in made.groups:
        for rater in group:
            by_form(returned, made, rater.name, p)
    status, said = await radrag("experts", "import", study, returned)
    assert (status, said.split("\n")[0]) == (Exit.OK, "2160 ratings, 0 cells empty")
    status, said = await radrag("experts", "report", study, "--json")
    pairs = [one[name] for one in json.loads(said)["criteria"] for name in ("ac1", "ac2")]
    assert sum(one["low"] <= p**2 <= one["high"] for one in pairs) >= 7


async def test_sheets_and_forms_of_one_study_come_together(tmp_path: Path) -> None:
    study = tmp_path / "study"
    await radrag("experts", "plan", *study_files(tmp_path, 12), study)
    fill_in(study / "sheets", 0.9, seed=1)
    made = plan_of(study / "plan.json")
    rater = made.groups[0][0].name
    by_form(study / "sheets", made, rater)
    status, said = await radrag("experts", "import", study, study / "sheets")
    assert (status, f"{rater} has sent" in said) == (Exit.USAGE, True)
    (study / "sheets" / "group-1-rater-1.xlsx").unlink()
    lines = (study / "sheets" / f"{rater}.jsonl").read_text().splitlines()
    (study / "sheets" / f"{rater}.jsonl").write_text("\n".join(lines[:-2]))  # two not rated yet
    status, said = await radrag("experts", "import", study, study / "sheets")
    assert (status, "2 cells empty" in said) == (Exit.OK, True)


GOOD = {"criterion": "clarity", "value": 3, "rank": 0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rater": "nobody"}, "the plan has no rater 'nobody'"),
        ({"question": "q999"}, "question 'q999' is not for"),
        ({"criterion": "usefulness", "rank": 9}, "has no source 9 to rate"),
        ({"criterion": "usefulness", "rank": 0}, "has no source 0 to rate"),
        ({"rank": True}, "rank is True"),
        ({"value": 6}, "value is 6"),
        ({"value": float("nan")}, "value is nan"),
        ({"value": None}, "value is None"),
        ({"criterion": "beauty"}, "criterion is 'beauty'"),
        ({"criterion": "hallucination", "value": 1}, "mixes several studies"),
        ({}, "twice"),
    ],
)
async def test_a_wrong_line_of_a_form_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    study, returned = tmp_path / "study", tmp_path / "returned"
    made = without_sheets(study, 12)
    rater, question = made.groups[0][0].name, made.questions_of(0)[0].id
    right = GOOD | {"rater": rater, "question": question}
    returned.mkdir()
    (returned / "a.jsonl").write_text("\n".join([json.dumps(right), json.dumps(right | change)]))
    status, shown = await radrag("experts", "import", study, returned)
    assert (status, said in shown) == (Exit.USAGE, True), shown


async def test_ratings_of_another_plan_are_not_reported(tmp_path: Path) -> None:
    study = tmp_path / "study"
    without_sheets(study, 12)
    (study / "ratings.jsonl").write_text(json.dumps(GOOD | {"rater": "R00", "question": "gone"}))
    status, shown = await radrag("experts", "report", study)
    assert (status, "is not for 'R00' to rate" in shown) == (Exit.USAGE, True)


@pytest.mark.parametrize("constant", [True, False])
async def test_one_rater_and_constant_ratings_are_told_and_not_computed(
    tmp_path: Path, constant: bool
) -> None:
    """One rater has nobody to agree with; where all say the same, there is no spread to test."""
    study = tmp_path / "study"
    made = without_sheets(study, 12)
    members = made.groups[0] if constant else made.groups[0][:1]
    rows = [
        {"rater": rater.name, "question": question.id, "criterion": "clarity", "rank": 0,
         "value": 4 if constant else 1 + n % 5}
        for rater in members for n, question in enumerate(made.questions_of(0))
    ]  # fmt: skip
    (study / "ratings.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, said = await radrag("experts", "report", study, "--json")
    (found,) = json.loads(said)["criteria"]
    assert status == Exit.OK
    assert found["mean"]["low"] <= found["mean"]["mean"] <= found["mean"]["high"]
    if constant:
        assert (found["ac1"]["value"], found["identical"], found["sd"]) == (1.0, 1.0, 0.0)
    else:
        assert (found["ac1"], found["ac2"], found["identical"]) == (None, None, None)
    assert all(one["overall"]["p"] is None for one in json.loads(said)["between"] if constant)
    status, said = await radrag("experts", "report", study, "--markdown")
    assert (status, "nan" in said.lower()) == (Exit.OK, False)


TABLES = {
    "ratings": ("a,b\n1,1\n2,2\n3,NA\n1,2\n", 6),
    "counts": ("low,high\n2,0\n1,1\n0,2\n", 5),
    "contingency": ("low,high\n8,1\n2,9\n", 6),
}


@pytest.mark.parametrize("form", TABLES)
async def test_any_table_of_ratings_has_its_coefficients(tmp_path: Path, form: str) -> None:
    text, count = TABLES[form]
    (tmp_path / "t.csv").write_text("\ufeff" + text.replace("\n", "\r\n"), encoding="utf-8")
    status, said = await radrag("experts", "agreement", tmp_path / "t.csv", "--form", form, "--json")
    found = json.loads(said)
    assert (status, len(found)) == (Exit.OK, count)
    assert all(one["low"] <= one["value"] <= one["high"] for one in found.values())
    if form == "contingency":  # Cohen's kappa by hand: 0.85 observed, 0.5 by chance
        assert found["conger"]["value"] == pytest.approx((0.85 - 0.5) / 0.5)


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("a,b\n1\n", "ratings", "t.csv:2: has 1 columns, the heading has 2"),
        ("a,b\n1,x\n", "ratings", "t.csv:2: 'x' is no rating"),
        ("a,b\n1,inf\n", "ratings", "t.csv:2: 'inf' is no rating"),
        ("a,b\n", "ratings", "has no ratings below a heading"),
        ("", "ratings", "has no ratings below a heading"),
        ("a,b\n1,1\n1,1\n", "ratings", "a scale of two categories at least"),
        ("a\n1\n2\n", "ratings", "one with two ratings"),
        ("a,b\n1,NA\n", "counts", "whole numbers from 0 only"),
        ("a,b\n1,1.5\n", "counts", "whole numbers from 0 only"),
        ("a,b\n1,1\n", "contingency", "as many columns as rows"),
    ],
)
async def test_a_wrong_table_of_ratings_is_named(tmp_path: Path, text: str, form: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    status, shown = await radrag("experts", "agreement", tmp_path / "t.csv", "--form", form)
    assert (status, said in shown) == (Exit.USAGE, True), shown
