"""`radrag eval experts agreement|plan|import|report`: a study with raters, from the sheets to its figures."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from cli import places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import report
from evaluation.experts import plan, rating_tables, ratings, sheets, study, tables
from evaluation.jsonl import DatasetError
from evaluation.provenance import provenance

PLAN, RATINGS, SHEETS = "plan.json", "ratings.jsonl", "sheets"


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Does one step. Raises DatasetError, which ends with status 2."""
    STEPS[given.step](given, screen)
    return Exit.OK


def _plan(given: argparse.Namespace, screen: Terminal) -> None:
    questions, raters = plan.questions_from(given.questions), plan.raters_from(given.raters)
    if (given.folder / RATINGS).exists():
        raise DatasetError(given.folder, 0, f"has {RATINGS} already: a new plan would orphan it")
    try:
        made = plan.planned(questions, raters, given.groups, given.seed)
    except ValueError as error:
        raise DatasetError(given.raters, 0, str(error)) from None
    written = sheets.write(made, given.folder / SHEETS, given.study)
    plan.write(made, given.folder / PLAN)
    screen.text(f"study {made.study}: {len(written)} sheets in {given.folder / SHEETS}")
    for group, some in enumerate(made.groups):
        screen.text(f"group {group + 1}: {len(some)} raters, {len(made.questions_of(group))} questions")


def _import(given: argparse.Namespace, screen: Terminal) -> None:
    made = plan.read(given.folder / PLAN)
    found = ratings.import_sheets(made, given.sheets)
    ratings.write(found, given.folder / RATINGS)
    screen.text(f"{len(found.ratings)} ratings, {found.empty} cells empty")
    if found.absent:
        screen.text(f"no sheet from: {', '.join(found.absent)}")


def _report(given: argparse.Namespace, screen: Terminal) -> None:
    made, path = plan.read(given.folder / PLAN), given.folder / RATINGS
    rated = ratings.checked(made, ratings.read(path), path)
    known = {one.criterion for one in rated}
    criteria = [one for some in sheets.STUDIES.values() for one in some if one.name in known]
    figures = [study.described(rated, one) for one in criteria]
    between = [one for criterion in criteria for one in study.compared(rated, made, criterion)]
    judged = study.against_judge(rated, _judged(given.judge)) if given.judge else {}
    if given.json:
        values = {
            "kind": "experts",
            "command": given.command,
            "study": made.study,
            "seed": made.seed,
            **provenance(places.ROOT),
        }
        values |= {"criteria": [asdict(one) for one in figures], "between": [asdict(one) for one in between]}
        screen.json(values | {"judge": {name: asdict(one) for name, one in judged.items()}})
        return
    parts = [tables.described_table(figures), tables.compared_table(between)]
    for table in [*parts, tables.judge_table(judged)] if judged else parts:
        if given.markdown:
            screen.text(report.markdown(table) + "\n")
        else:
            screen.table(*table)


def _judged(path: Path) -> dict[str, dict[str, float]]:
    """Metric → question → score, from what `radrag eval answers --json` printed."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))["scores"]
        return {name: {one: float(score) for one, score in by.items()} for name, by in given.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(path, 0, f"is not a result of `radrag eval answers` ({error!r})") from None


def _agreement(given: argparse.Namespace, screen: Terminal) -> None:
    rows = rating_tables.read(given.table)
    found = rating_tables.coefficients(rows, given.form, given.weights, given.table)
    if given.json:
        screen.json({name: asdict(one) for name, one in found.items()})
    elif given.markdown:
        screen.text(report.markdown(rating_tables.table(found)))
    else:
        screen.table(*rating_tables.table(found))


STEPS = {"agreement": _agreement, "plan": _plan, "import": _import, "report": _report}
