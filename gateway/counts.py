"""Counts around the answer path: outcomes, missing parts, citations, tokens, first-token times."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from gateway.answer import Event, Evidence, Finish, Kind, Notice, Prompted
from gateway.pipeline import Pipeline
from gateway.questions import Question
from radrag import telemetry


class Counted:
    """A pipeline whose replies are counted."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def find(self, question: Question) -> Evidence:
        """As Pipeline.find."""
        evidence = await self._pipeline.find(question)
        _evidence(evidence)
        return evidence

    async def write(self, question: Question) -> Prompted:
        """As Pipeline.write."""
        prompted = await self._pipeline.write(question)
        _evidence(prompted.evidence)
        return prompted

    async def answer(self, question: Question) -> AsyncGenerator[Event, None]:
        """As Pipeline.answer."""
        async with aclosing(self._pipeline.answer(question)) as events:
            async for event in events:
                if isinstance(event, Finish):
                    _finish(event)
                yield event


def _evidence(evidence: Evidence) -> None:
    _missing(evidence.warnings)
    best = evidence.passages[0].scores.rerank if evidence.passages else None
    if best is not None:
        telemetry.RERANK_SCORE.observe(best)


def _missing(warnings: Iterable[Notice]) -> None:
    for warning in warnings:
        if warning.kind is Kind.DEGRADED:
            telemetry.DEGRADED.labels(warning.detail).inc()


def _finish(finish: Finish) -> None:
    _evidence(finish.evidence)
    telemetry.OUTCOMES.labels(finish.outcome.name).inc()
    telemetry.GENERATED_TOKENS.inc(finish.usage.output_tokens)
    for citation in finish.citations:
        telemetry.CITATIONS.labels(str(citation.verified).lower()).inc()
    for at, seconds in (
        ("model", finish.usage.first_token_model),
        ("caller", finish.usage.first_token_caller),
    ):
        if seconds is not None:
            telemetry.TIME_TO_FIRST_TOKEN.labels(at).observe(seconds)
