"""`radrag eval answers`: answers against references, by words and by a judge, and against a baseline."""

import argparse
import importlib.util
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path

from cli import places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import report, text_overlap
from evaluation.experts.tables import p_value
from evaluation.jsonl import DatasetError, rows
from evaluation.judging import outcomes
from evaluation.judging.judge import Complete, Endpoint
from evaluation.judging.outcomes import Calibration, Case, Judged, Outcome
from evaluation.measures import mean
from evaluation.provenance import provenance
from evaluation.significance import wilcoxon
from gateway.templates import TEMPLATES
from radrag.errors import DeadlineExceeded, RadragError
from radrag.settings import Settings
from radrag.triton import ModelServer

Scores = dict[str, dict[str, float]]
"""Metric → case → score."""


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints the figures. Status 2 where a judge is asked for and DeepEval is not installed."""
    cases = _cases(given.answers)
    if given.judge and importlib.util.find_spec("deepeval") is None:
        screen.note("a judge needs DeepEval: `make judge`, then .venv-judge/bin/radrag eval answers …")
        return Exit.USAGE
    found = await _judged(cases, given, screen, environ) if given.judge else []
    scores = outcomes.by_case(found) | _overlaps(cases)
    judged = outcomes.judged(found)
    calibration = {name: _calibration(name, scores, given.labels) for name in given.labels_for}
    baseline = await _baseline(scores, given, screen, environ)
    if given.json:
        values = {"kind": "answers", "unanswered": sum(not case.answered for case in cases)}
        values |= {"judged": [asdict(one) for one in judged], "scores": scores, "baseline": baseline}
        values |= {"calibration": {name: asdict(one) for name, one in calibration.items()}}
        screen.json(values | {"judge": given.judge_model or given.judge, **provenance(places.ROOT)})
        return Exit.OK
    screen.text(f"{len(cases)} cases, {sum(not case.answered for case in cases)} unanswered")
    for table in (_table(scores, judged, calibration), *([_against(baseline)] if baseline else [])):
        if given.markdown:
            screen.text(report.markdown(table) + "\n")
        else:
            screen.table(*table)
    return Exit.OK


def _cases(path: Path) -> list[Case]:
    cases = {case.id: case for case in map(outcomes.case_of, rows(path))}
    if not cases:
        raise DatasetError(path, 0, "has no answers")
    return list(cases.values())


def _overlaps(cases: Sequence[Case]) -> Scores:
    return text_overlap.by_case({case.id: (case.answer, case.reference) for case in cases if case.reference})


async def _judged(
    cases: Sequence[Case], given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]
) -> list[Outcome]:
    from evaluation.judging import metrics  # noqa: PLC0415  needs DeepEval, and sets its environment

    async with _completing(given, Settings.from_environ(environ)) as complete:
        return await metrics.judge(
            cases,
            complete,
            given.judge_model or given.judge,
            chosen=given.metric or tuple(metrics.METRICS),
            repetitions=given.repetitions,
            at_once=given.at_once,
            seconds=given.seconds * 5,
            progress=lambda stage, done, of: screen.progress(f"{stage} {done} of {of}"),
        )


@asynccontextmanager
async def _completing(given: argparse.Namespace, settings: Settings) -> AsyncIterator[Complete]:
    if given.judge != "triton":
        endpoint = Endpoint(given.judge, given.judge_model, _key(given.judge_key_file), given.seconds)
        try:
            yield endpoint.complete
        finally:
            await endpoint.close()
        return
    server = ModelServer(settings.generator_url, "generator")
    try:
        yield _own(server, settings, given.seconds)
    finally:
        await server.close()


def _key(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise DatasetError(path, 0, f"the judge's key cannot be read ({type(error).__name__})") from None


def _own(server: ModelServer, settings: Settings, seconds: float) -> Complete:
    """Our own generator as the judge: it is told the schema by DeepEval's prompt, and held to it after."""
    template = TEMPLATES[settings.generator_template]
    sampling = {"temperature": 0.0, "max_tokens": 2048, "stop": list(template.stop)}

    async def complete(prompt: str, schema: Mapping[str, object] | None) -> str:
        text = template.render("You are a strict judge. Reply with JSON only.", prompt)
        try:
            pieces = server.generate(settings.generator_model, text, sampling, seconds)
            return "".join([piece.text async for piece in pieces])
        except DeadlineExceeded:
            raise outcomes.JudgeFailure(outcomes.TIMEOUT) from None
        except RadragError:
            raise outcomes.JudgeFailure(outcomes.UNAVAILABLE) from None

    return complete


def _calibration(metric: str, scores: Scores, path: Path) -> Calibration:
    labels = {row.id("id"): row.flag("label") for row in rows(path)}
    try:
        return outcomes.calibrated(scores.get(metric, {}), labels)
    except ValueError as error:
        raise DatasetError(path, 0, f"{metric}: {error}") from None


async def _baseline(
    scores: Scores, given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]
) -> dict[str, dict[str, object]]:
    """Ours against answers of the model alone, the same questions: means and Wilcoxon, metric by metric."""
    if given.baseline is None:
        return {}
    cases = _cases(given.baseline)
    judged = await _judged(cases, given, screen, environ) if given.judge else []
    theirs, found = outcomes.by_case(judged) | _overlaps(cases), dict[str, dict[str, object]]()
    for metric in (name for name in scores if name in theirs):
        both = [case for case in scores[metric] if case in theirs[metric]]
        pairs = [scores[metric][c] for c in both], [theirs[metric][c] for c in both]
        if both:
            test = wilcoxon(*pairs)
            means = [mean(values).mean for values in pairs]
            found[metric] = {"ours": means[0], "alone": means[1], "n": len(both), "p": p_value(test)}
    return found


def _table(scores: Scores, judged: Sequence[Judged], calibration: Mapping[str, Calibration]) -> report.Table:
    by_name = {one.metric: one for one in judged}
    body = []
    for name in dict.fromkeys([*by_name, *scores]):
        one, figure = by_name.get(name), mean(list(scores[name].values())) if scores.get(name) else None
        shown = "" if figure is None else f"{figure.mean:.3f} ({figure.low:.3f}–{figure.high:.3f})"
        failures = "" if one is None else ", ".join(f"{k} {n}" for k, n in one.failures.items()) or "none"
        spread = "" if one is None or one.spread is None else f"{one.spread:.3f}"
        kappa = _kappa(calibration.get(name)) if one else ""
        body.append([name, str(len(scores.get(name, {}))), shown, failures, spread, kappa])
    return ["metric", "cases", "mean (95 %)", "failures", "spread", "κ with people"], body


def _kappa(one: Calibration | None) -> str:
    if one is None:
        return "not calibrated"
    return f"{one.kappa.value:.2f} (yes: judge {one.judge_yes:.2f}, people {one.people_yes:.2f})"


def _against(baseline: Mapping[str, Mapping[str, object]]) -> report.Table:
    body = [
        [name, f"{one['ours']:.3f}", f"{one['alone']:.3f}", str(one["n"]), str(one["p"])]
        for name, one in baseline.items()
    ]
    return ["metric", "with sources", "model alone", "pairs", "Wilcoxon p"], body
