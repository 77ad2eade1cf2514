"""The answer path. Find: scope → embed → scope again → search → rerank. Answer: prompt → generate → verify.

Every stage is a plain async function. `gateway.__main__` chooses the real ones and traces them;
tests pass fakes. Nothing here knows gRPC or OpenTelemetry. What happens when a part is missing is
decided here: a reply says so in a notice, and is never worse than it admits.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from gateway.answer import Event, Evidence, Finish, Kind, Notice, Outcome, Prompt, Prompted, Sources, Text
from gateway.conflicts import among, conflicts
from gateway.deadlines import Seconds, timely, within
from gateway.drafting import Draft, Watch, again, ours
from gateway.messages import Messages
from gateway.passage import Found, Passage, QueryVector
from gateway.questions import Question
from gateway.ranking import by_fusion, by_score
from gateway.sufficiency import Judge
from gateway.verify import Verification
from radrag.errors import DeadlineExceeded, FailedPrecondition, ModelUnavailable
from radrag.triton import Piece, Score

# A model that is missing degrades the reply; one that is overloaded does not: the caller may come back.
MISSING = (ModelUnavailable, DeadlineExceeded)

MODELS = {Notice(Kind.DEGRADED, "embedder"), Notice(Kind.DEGRADED, "reranker")}
# The part of the time left that a step may use: one that hangs leaves the rest to answer without it.
EMBED, SEARCH, RERANK, ASK = 0.3, 0.6, 0.6, 0.5


@dataclass(frozen=True)
class Pipeline:
    """The stages, the thresholds, and the fixed messages."""

    scope: Callable[[str], Awaitable[str]]
    near_scope: Callable[[QueryVector], str | None]
    embed: Callable[[str], Awaitable[QueryVector]]
    search: Callable[[Question, QueryVector | None], Awaitable[Found]]
    rerank: Callable[[str, Sequence[str]], Awaitable[list[Score]]]
    prompt: Callable[[Question, Sequence[Passage]], Awaitable[Prompt]]
    generate: Callable[[str, int], AsyncGenerator[Piece, None]]
    verify: Callable[[Verification, AsyncGenerator[Piece, None]], AsyncGenerator[str, None]]
    generator_ready: Callable[[], Awaitable[bool]]
    renew_index: Callable[[], Awaitable[object]]
    judge: Judge
    messages: Messages
    seconds: Seconds = field(default_factory=Seconds)
    unsupported: str = "flag"
    clock: Callable[[], float] = perf_counter
    watch: Watch = field(default_factory=Watch)

    async def find(self, question: Question) -> Evidence:
        """The sources for a question, best first, and whether they are enough to answer from."""
        gate = await self.scope(question.text)
        if gate:
            return _deferred(question, gate)
        try:
            return await self._found(question)
        except FailedPrecondition:  # the index has moved to a new generation: once more, with its embedder
            await self.renew_index()
            return await self._found(question)

    async def _found(self, question: Question) -> Evidence:
        vector, warnings = await self._embedded(question)
        gate = self.near_scope(vector) if vector else ""
        if gate:
            return _deferred(question, gate, vector)
        warnings += (Notice(Kind.DEGRADED, "scope"),) if gate is None else ()
        found, missing = await self._searched(question, vector)
        ranked, failed = await self._ranked(question, found)
        if Notice(Kind.DEGRADED, "reranker") in failed:
            embedder = vector.embedder if vector else ""
            outcome, reason = self.judge.degraded(question.text, ranked, embedder)
        else:
            outcome, reason = self.judge.ranked(ranked)
        warnings = await self._with_generator((*warnings, *missing, *failed))
        best = ranked[: question.limits.sources]
        warnings = (*warnings, *conflicts(question.text, best))
        evidence = Evidence(question, outcome, reason, best, warnings, "", found.generation, found.revision)
        return _embedded_by(evidence, vector)

    async def write(self, question: Question) -> Prompted:
        """The evidence and the prompt a generator would get; no prompt where none is worth asking."""
        evidence = await self.find(question)
        if evidence.outcome is not Outcome.ANSWERED:
            return Prompted(evidence, None, self._message(evidence))
        prompt = await self.prompt(question, evidence.passages)
        warnings = (*among(evidence.warnings, len(prompt.sources)), *prompt.warnings)
        evidence = replace(evidence, passages=prompt.sources, warnings=warnings)
        return Prompted(evidence, prompt)

    async def answer(self, question: Question) -> AsyncGenerator[Event, None]:
        """Sources, then checked text, then one finish. A failure before the first event is raised."""
        began = self.clock()
        prompted = await self.write(question)
        if prompted.evidence.lacks("generator"):
            raise ModelUnavailable("generator")
        if prompted.prompt is None:
            evidence = prompted.evidence
            yield Sources(evidence.passages)
            yield Text(prompted.message)
            yield Finish(evidence, evidence.outcome, evidence.reason, warnings=evidence.warnings)
            return
        async with aclosing(self._written(prompted.evidence, prompted.prompt, began)) as events:
            async for event in events:
                yield event

    async def _written(self, evidence: Evidence, prompt: Prompt, began: float) -> AsyncGenerator[Event, None]:
        question, failure, draft = evidence.question, None, Draft(self.clock, began, self.watch)
        answer = Verification(prompt, question.language, self.unsupported)
        written = timely(self.seconds.generate, self.generate(prompt.text, question.limits.max_tokens))
        async with aclosing(draft.pieces(written)) as pieces:
            first = await anext(pieces, None)  # a generator that is down says so before the first event
            yield Sources(evidence.passages)
            try:
                async with aclosing(self.verify(answer, again(first, pieces))) as checked:
                    async for text in checked:
                        draft.sent()
                        yield Text(text)
            except Exception as error:  # noqa: BLE001  whatever it was, the stream ends with one finish
                failure = ours(error)
        if answer.refused and not failure:
            yield Text(self.messages.insufficient(question.language))
        yield draft.finish(evidence, prompt, answer, failure)

    async def _embedded(self, question: Question) -> tuple[QueryVector | None, tuple[Notice, ...]]:
        try:
            vector = await within(self.seconds.embed, EMBED, partial(self.embed, question.text))
        except MISSING:
            return None, (Notice(Kind.DEGRADED, "embedder"),)
        return vector, (Notice(Kind.TRUNCATED, "embedder"),) if vector.truncated else ()

    async def _searched(
        self, question: Question, vector: QueryVector | None
    ) -> tuple[Found, tuple[Notice, ...]]:
        found = await within(self.seconds.search, SEARCH, partial(self.search, question, vector))
        # Without a vector there is no dense leg: that is said already.
        legs = [leg for leg in found.missing_legs if vector or leg != "dense"]
        return found, tuple(Notice(Kind.DEGRADED, leg) for leg in legs)

    async def _ranked(
        self, question: Question, found: Found
    ) -> tuple[tuple[Passage, ...], tuple[Notice, ...]]:
        if not found.passages:
            return (), ()
        texts = [passage.readable for passage in found.passages]
        try:
            scores = await within(self.seconds.rerank, RERANK, partial(self.rerank, question.text, texts))
        except MISSING:
            scores = []
        failed = sum(math.isnan(score.value) for score in scores)
        if failed == len(scores):
            return by_fusion(found.passages), (Notice(Kind.DEGRADED, "reranker"),)
        warnings: tuple[Notice, ...] = (Notice(Kind.RERANK_ROW_FAILED, str(failed)),) if failed else ()
        if any(score.truncated for score in scores):
            warnings += (Notice(Kind.TRUNCATED, "reranker"),)
        values = [score.value for score in scores]
        return by_score(found.passages, values, question.limits.sources), warnings

    async def _with_generator(self, warnings: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """Whoever gets a degraded reply wants to know whether there is anyone left to write an answer."""
        if MODELS.isdisjoint(warnings):
            return warnings
        try:
            ready = await within(0.5, ASK, self.generator_ready)
        except DeadlineExceeded:
            ready = False
        return warnings if ready else (*warnings, Notice(Kind.DEGRADED, "generator"))

    def _message(self, evidence: Evidence) -> str:
        language = evidence.question.language
        if evidence.gate:
            return self.messages.deferral(evidence.gate, language)
        return self.messages.insufficient(language)


def _deferred(question: Question, gate: str, vector: QueryVector | None = None) -> Evidence:
    return _embedded_by(Evidence(question, Outcome.OUT_OF_SCOPE, "scope", gate=gate), vector)


def _embedded_by(evidence: Evidence, vector: QueryVector | None) -> Evidence:
    if vector is None:
        return evidence
    return replace(evidence, embedder=vector.embedder, embedder_sha256=vector.weights_sha256)
