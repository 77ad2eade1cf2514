"""Counts around the answer path: outcomes, warnings, citations; tokens and first tokens as they come."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from gateway.answer import Event, Evidence, Finish, Kind, Notice, Prompted
from gateway.drafting import Watch
from gateway.pipeline import Pipeline
from gateway.questions import Question
from radrag import telemetry


def first_token(at: str, seconds: float) -> None:
    """Counts a first token at the model or at the caller."""
    telemetry.child(telemetry.TIME_TO_FIRST_TOKEN, at).observe(seconds)


WATCH = Watch(first_token, telemetry.GENERATED_TOKENS.inc)


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
        try:
            async with aclosing(self._pipeline.answer(question)) as events:
                async for event in events:
                    if isinstance(event, Finish):
                        _finish(event)
                    yield event
        except Exception:  # before its first event: who asked got no answer either
            telemetry.OUTCOMES.labels("FAILED").inc()
            raise


def _evidence(evidence: Evidence) -> None:
    _warnings(evidence.warnings)
    best = evidence.passages[0].scores.rerank if evidence.passages else None
    if best is not None:
        telemetry.RERANK_SCORE.observe(best)


def _warnings(warnings: Iterable[Notice]) -> None:
    for warning in warnings:
        telemetry.child(telemetry.WARNINGS, warning.kind.value).inc()
        if warning.kind is Kind.DEGRADED:
            telemetry.DEGRADED.labels(warning.detail).inc()


def _finish(finish: Finish) -> None:
    _evidence(finish.evidence)
    _warnings(one for one in finish.warnings if one not in finish.evidence.warnings)
    telemetry.child(telemetry.OUTCOMES, "FAILED" if finish.error else finish.outcome.name).inc()
    for citation in finish.citations:
        telemetry.child(telemetry.CITATIONS, str(citation.verified).lower()).inc()
