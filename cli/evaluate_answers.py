"""`radrag eval answers`: answers by rule, by words and by a judge, and against the model alone."""

import argparse
import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from cli import evaluate_ask, evaluate_judging, places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import report, text_overlap, written
from evaluation.answer_tables import Compared, compared, compared_table, scores_table
from evaluation.jsonl import DatasetError, rows
from evaluation.judging import outcomes
from evaluation.judging.outcomes import Calibration, Case
from evaluation.provenance import provenance
from evaluation.written import Reader, Scores, Written
from gateway.citations import is_term, markers, quotes
from gateway.quantities import quantities


def _quotes(text: str) -> list[str]:
    return [quote.text for quote in quotes(text) if not is_term(quote)]


def _numbers(text: str) -> list[tuple[str, str]]:
    """Numbers with their units; `[1]` behind a sentence counts nothing."""
    for marker in reversed(markers(text, quotes(text))):
        text = text[: marker.start] + text[marker.end :]
    return list(quantities(text).numbers)


READER = Reader(_quotes, _numbers)


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints the figures. Status 2 where a judge is asked for and DeepEval is not installed."""
    if given.judge and importlib.util.find_spec("deepeval") is None:
        screen.note("a judge needs DeepEval: `make judge`, then .venv-judge/bin/radrag eval answers …")
        return Exit.USAGE
    asked = await evaluate_ask.answers(given, screen, environ)
    answers = asked.ours
    cases = _cases(answers)
    found = await evaluate_judging.judged(cases, given, screen, environ)
    scores = outcomes.by_case(found) | _overlaps(cases) | written.by_rule(answers, READER)
    judged = outcomes.judged(found)
    calibration = {name: _calibration(name, scores, given.labels) for name in given.labels_for}
    theirs = written.read(given.baseline) if given.baseline else asked.alone
    baseline = await _against(scores, theirs, given, screen, environ) if theirs else {}
    if given.json:
        values = {"kind": "answers", "command": given.command, "data_sha256": _sha256(given.answers)}
        values |= _counts(answers) | {"judged": [asdict(one) for one in judged], "scores": scores}
        values |= {"baseline": {name: asdict(one) for name, one in baseline.items()}}
        values |= {"calibration": {name: asdict(one) for name, one in calibration.items()}}
        screen.json(values | {"judge": given.judge_model or given.judge, **provenance(places.ROOT)})
        return Exit.OK
    screen.text(f"{len(answers)} cases, {_counts(answers)['unanswered']} unanswered")
    tables = [scores_table(scores, judged, calibration, given.uncalibrated)]
    for table in [*tables, compared_table(baseline)] if baseline else tables:
        if given.markdown:
            screen.text(report.markdown(table) + "\n")
        else:
            screen.table(*table)
    return Exit.OK


def _counts(answers: Sequence[Written]) -> dict[str, object]:
    """How many there are, how many are no answers, and how many of these are failed calls."""
    unanswered = [one for one in answers if not one.answered]
    failed = sum(bool(one.error) for one in unanswered)
    return {"cases": len(answers), "unanswered": len(unanswered), "failed_calls": failed}


def _cases(answers: Sequence[Written]) -> list[Case]:
    """As a judge sees them: a refusal's fixed text is no answer, and a failed call is neither."""
    return [
        Case(one.asked.id, one.asked.question, one.answer * one.answered, one.asked.reference, one.sources)
        for one in answers
        if not one.error
    ]


def _overlaps(cases: Sequence[Case]) -> Scores:
    return text_overlap.by_case({case.id: (case.answer, case.reference) for case in cases if case.reference})


def _sha256(path: Path) -> str:
    """Of the file, or of a folder's files by name."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return hashlib.sha256(b"".join(hashlib.sha256(one.read_bytes()).digest() for one in files)).hexdigest()


def _calibration(metric: str, scores: Scores, path: Path) -> Calibration:
    labels = {row.id("id"): row.flag("label") for row in rows(path)}
    try:
        return outcomes.calibrated(scores.get(metric, {}), labels)
    except ValueError as error:
        raise DatasetError(path, 0, f"{metric}: {error}") from None


async def _against(
    scores: Scores,
    theirs: Sequence[Written],
    given: argparse.Namespace,
    screen: Terminal,
    environ: Mapping[str, str],
) -> dict[str, Compared]:
    """Ours against theirs on the same questions, metric by metric."""
    cases = _cases(theirs)
    judged = outcomes.by_case(await evaluate_judging.judged(cases, given, screen, environ))
    return compared(scores, judged | _overlaps(cases) | written.by_rule(theirs, READER))
