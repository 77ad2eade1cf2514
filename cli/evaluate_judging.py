"""The judge of `radrag eval answers`: an OpenAI-compatible server, or our own generator on Triton."""

import argparse
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path

from cli.terminal import Terminal
from evaluation.jsonl import DatasetError
from evaluation.judging import outcomes
from evaluation.judging.judge import Complete, Endpoint
from evaluation.judging.outcomes import Case, Outcome
from gateway.templates import TEMPLATES
from radrag.errors import DeadlineExceeded, RadragError
from radrag.settings import Settings
from radrag.triton import ModelServer

TRITON = "triton"


async def judged(
    cases: Sequence[Case], given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]
) -> list[Outcome]:
    """A judgement of every answered case by every metric asked for; none without a judge."""
    if not given.judge:
        return []
    with redirect_stdout(sys.stderr):  # DeepEval has things to say, and stdout is for results
        return await _judged(cases, given, screen, Settings.from_environ(environ))


async def _judged(
    cases: Sequence[Case], given: argparse.Namespace, screen: Terminal, settings: Settings
) -> list[Outcome]:
    from evaluation.judging import metrics  # noqa: PLC0415  needs DeepEval, and sets its environment

    async with _completing(given, settings) as complete:
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
    if given.judge != TRITON:
        endpoint = Endpoint(given.judge, given.judge_model, _key(given.judge_key_file), given.seconds)
        try:
            yield endpoint.complete
        finally:
            await endpoint.close()
        return
    server = ModelServer(settings.generator_url, "generator")
    try:
        yield own(server, settings, given.seconds)
    finally:
        await server.close()


def _key(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise DatasetError(path, 0, f"the judge's key cannot be read ({type(error).__name__})") from None


def own(server: ModelServer, settings: Settings, seconds: float) -> Complete:
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
