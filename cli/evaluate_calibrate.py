"""`radrag eval calibrate`: sets the gateway's evidence thresholds from the calibration questions."""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path

from cli import evaluate_instance, evaluate_models, evaluate_service, places
from cli.evaluate_service import Running
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import calibrate, questions
from evaluation.bounded import each
from evaluation.calibrate import Case, Degraded, Point
from evaluation.functional import holds_a_path, lacking
from evaluation.provenance import provenance
from evaluation.questions import Question
from gateway.support import coverage
from ingest.manifest import read_manifest
from radrag.assistant.v1.assistant_pb2 import SearchResponse
from radrag.errors import Unavailable
from radrag.settings import Settings
from radrag.triton import ModelServer

# What the scores depend on besides models and data.
SHAPING = (
    "children_per_topic", "children", "candidates", "sources", "fusion", "rrf_k",
    "dense_weight", "bm25_weight", "language_share",
)  # fmt: skip
SHOWN = 12  # points of the curve in the table
TRIES = 4  # of a question whose reply lacks a model


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Writes the thresholds file and shows the curve."""
    asked, settings = questions.load(given.questions), Settings.from_environ(environ)
    async with AsyncExitStack() as stack:
        if given.own:
            home = places.home(settings, environ) / "eval" / "functional-0"
            items = read_manifest(given.samples / "manifest.yaml")
            served = evaluate_instance.served(home, items, screen, environ)
            settings = await stack.enter_async_context(served)
        running = await stack.enter_async_context(evaluate_service.running(settings))
        cases = await _cases(asked, running, given.at_once, screen)
        models = await _fingerprints(settings)
    points = calibrate.curve(cases)
    point, degraded = calibrate.chosen(points, given.keep), calibrate.degraded(cases)
    source = _source(given, settings, cases)
    written(
        given.out,
        {settings.reranker_model: _entry(point, models[settings.reranker_model], source)},
        {settings.embedder_model: _entry(degraded, models[settings.embedder_model], source)},
    )
    _show(screen, cases, [*_some(points), point], degraded)
    screen.text(f"written: {given.out}; the gateway reads it when it starts")
    return Exit.OK


async def _cases(asked: Sequence[Question], running: Running, at_once: int, screen: Terminal) -> list[Case]:
    async def case(question: Question) -> Case:
        reply = await _whole(question.text, running)
        best = reply.ranked_parents[0].scores if reply.ranked_parents else None
        sources = [one.document.document_id for one in reply.ranked_parents]
        found = holds_a_path(question, sources)
        return Case(
            id=question.id,
            answer=(True if found else None) if question.answerable else False,
            score=best.rerank if best is not None and best.HasField("rerank") else None,
            degraded=await _degraded(question.text, running),
        )

    def progress(stage: str, done: int, of: int) -> None:
        screen.progress(f"{stage} {done} of {of}")

    return await each(case, asked, at_once, "asking", progress)


async def _whole(question: str, running: Running) -> SearchResponse:
    """A reply that no model was missing from; a busy machine is asked again."""
    for _ in range(TRIES):
        reply = await running.client.search(question)
        missing = lacking(reply.warnings)
        if not missing:
            return reply
    raise Unavailable(f"nothing is calibrated without {', '.join(missing)}", "DEGRADED")


async def _degraded(question: str, running: Running) -> tuple[tuple[float, float], ...]:
    return tuple(
        (coverage(question, passage.readable), passage.scores.dense)
        for passage in await running.candidates(question)
        if passage.scores.dense is not None
    )


async def _fingerprints(settings: Settings) -> dict[str, str]:
    """A hash for each model: of its parameters, and of its files where it says no more than its name."""
    found = {}
    for url, model in (
        (settings.reranker_url, settings.reranker_model),
        (settings.embedder_url, settings.embedder_model),
    ):
        server = ModelServer(url, "model server")
        made = await evaluate_models.fingerprint(server, model)
        await server.close()
        found[model] = hashlib.sha256(made.encode()).hexdigest()
    return found


def _source(given: argparse.Namespace, settings: Settings, cases: Sequence[Case]) -> dict[str, object]:
    return {
        "data_sha256": questions.sha256(given.questions),
        "settings_sha256": settings_sha256(settings),
        "answerable": sum(case.answer is True for case in cases),
        "unanswerable": sum(case.answer is False for case in cases),
        "evidence_not_found": sum(case.answer is None for case in cases),
        "day": provenance(places.ROOT)["day"],
    }


def _entry(point: Point | Degraded, model_sha256: str, source: dict[str, object]) -> dict[str, object]:
    values = {name: round(value, 4) for name, value in asdict(point).items()}
    if isinstance(point, Point):
        values["score"] = values.pop("threshold")
    return {**values, "model_sha256": model_sha256, **source}


def settings_sha256(settings: Settings) -> str:
    """The hash of what scores depend on besides models and data: settings, and how words are counted."""
    shaping = json.dumps({name: getattr(settings, name) for name in SHAPING}, sort_keys=True)
    words = (places.ROOT / "gateway" / "words.json").read_bytes()
    return hashlib.sha256(shaping.encode() + words).hexdigest()


def stale(entries: Mapping[str, Mapping[str, object]], settings: Settings, data: Path) -> list[str]:
    """The models whose entries in a thresholds file are not of these settings and questions."""
    now = {"settings_sha256": settings_sha256(settings), "data_sha256": questions.sha256(data)}
    return [model for model, entry in entries.items() if any(entry.get(name) != now[name] for name in now)]


def written(path: Path, rerank: dict[str, object], degraded: dict[str, object]) -> None:
    """Replaces the entries of these models and keeps those of others."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    values = {
        "calibrated": True,
        "note": "Written by `radrag eval calibrate`; the rule is in evaluation/calibrate.py.",
        "rerank": {**known.get("rerank", {}), **rerank},
        "degraded": {**known.get("degraded", {}), **degraded},
    }
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _some(points: Sequence[Point]) -> list[Point]:
    step = max(1, len(points) // SHOWN)
    return list(points[::step])


def _show(screen: Terminal, cases: Sequence[Case], points: Sequence[Point], degraded: Degraded) -> None:
    lost = sum(case.answer is None for case in cases)
    screen.text(f"{len(cases)} questions; the evidence of {lost} answerable ones was not among the sources")
    rows = [_row(f"{one.threshold:.3f}", one) for one in points[:-1]]
    rows.append(_row(f"{points[-1].threshold:.3f}  chosen", points[-1]))
    name = f"no reranker: coverage {degraded.coverage:.2f}, cosine {degraded.cosine:.3f}"
    rows.append(_row(name, degraded))
    screen.table(("threshold", "answers kept", "refused", "answers right"), rows)


def _row(name: str, one: Point | Degraded) -> list[str]:
    return [name, f"{one.kept:.3f}", f"{one.refused:.3f}", f"{one.precision:.3f}"]
