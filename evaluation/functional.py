"""Asks the question set through the real service and judges each reply by rule; no model judges here."""

import re
import time
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from evaluation.bounded import Progress, each, silent
from evaluation.questions import Question
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.errors import RadragError


@dataclass(frozen=True)
class Service:
    """The running service: its answers, the documents of the (at most 13) parents it reranks for a question,
    best first, and the texts a refusal may consist of."""

    generate: Callable[[str], Awaitable[pb.GenerateResponse]]
    candidates: Callable[[str], Awaitable[Sequence[str]]]
    fixed_messages: Collection[str]


@dataclass(frozen=True)
class Answer:
    """What came back for a question; `error` names the failure when nothing did."""

    reply: pb.GenerateResponse
    candidates: Sequence[str] = ()
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Verdict:
    """One reply, judged. Ranks count from 1; None means not found. `error` names a failed call."""

    question: Question
    outcome: str
    reason: str
    rank: int | None  # of the first source from an evidence document
    among_sources: bool  # every evidence document of one alternative is among the sources
    among_candidates: bool
    quoted: bool  # every evidence quote of one alternative stands in the sources
    citations: int
    verified: int
    fixed_text: bool  # a refusal that says the fixed message and nothing else
    best_rerank: float | None
    seconds: float
    error: str = ""
    unsupported: int = 0  # sentences that no source supports, flagged or dropped
    missing: tuple[str, ...] = ()  # parts the reply had to do without: reranker, dense, …

    @property
    def answered(self) -> bool:
        """Whether an answer was given."""
        return self.outcome == "ANSWERED"

    @property
    def refused(self) -> bool:
        """Whether it was refused, for whichever reason."""
        return self.outcome in {"INSUFFICIENT_EVIDENCE", "OUT_OF_SCOPE"}

    @property
    def passed(self) -> bool:
        """Answered with evidence among the sources and every citation verified; or rightly refused."""
        if self.question.answerable:
            return self.answered and self.among_sources and self.verified == self.citations > 0
        return self.outcome == "INSUFFICIENT_EVIDENCE" and self.fixed_text


async def run(
    questions: Sequence[Question], service: Service, at_once: int = 2, progress: Progress = silent
) -> list[Verdict]:
    """A verdict for each question, in their order. A failed call is a verdict too."""

    async def one(question: Question) -> Verdict:
        return judged(question, await _asked(question, service), service.fixed_messages)

    return await each(one, questions, at_once, "asking", progress)


async def _asked(question: Question, service: Service) -> Answer:
    started = time.perf_counter()
    try:
        reply = await service.generate(question.text)
        seconds = time.perf_counter() - started
        return Answer(reply, await service.candidates(question.text) if question.answerable else (), seconds)
    except RadragError as failure:
        return Answer(pb.GenerateResponse(), (), time.perf_counter() - started, type(failure).__name__)


def judged(question: Question, answer: Answer, fixed_messages: Collection[str]) -> Verdict:
    """The verdict on one answer."""
    reply = answer.reply
    sources = [parent.document.document_id for parent in reply.ranked_parents]
    wanted = {quote.document for path in question.evidence for quote in path}
    scores = [one.scores.rerank for one in reply.ranked_parents if one.scores.HasField("rerank")]
    return Verdict(
        question=question,
        outcome=pb.Outcome.Name(reply.outcome).removeprefix("OUTCOME_"),
        reason=reply.reason,
        rank=next((rank for rank, document in enumerate(sources, 1) if document in wanted), None),
        among_sources=holds_a_path(question, sources),
        among_candidates=holds_a_path(question, answer.candidates),
        quoted=quotes_a_path(question, reply.ranked_parents),
        citations=len(reply.citations),
        verified=sum(citation.verified for citation in reply.citations),
        fixed_text=reply.text.strip() in fixed_messages and not reply.citations,
        best_rerank=max(scores, default=None),
        seconds=answer.seconds,
        error=answer.error,
        unsupported=unsupported(reply.warnings),
        missing=lacking(reply.warnings),
    )


def unsupported(warnings: object) -> int:
    """The sentences of a reply with these `warnings` that no source supports, flagged or dropped."""
    return sum(one.kind == pb.Warning.KIND_UNSUPPORTED_SENTENCE for one in _warnings(warnings))


def lacking(warnings: object) -> tuple[str, ...]:
    """The parts that a reply with these `warnings` had to do without."""
    return tuple(one.detail for one in _warnings(warnings) if one.kind == pb.Warning.KIND_DEGRADED)


def _warnings(warnings: object) -> Iterable[pb.Warning]:
    return cast("Iterable[pb.Warning]", warnings)  # to mypy the field is of the builtin of that name


def holds_a_path(question: Question, documents: Collection[str]) -> bool:
    """Whether every document of one alternative of the evidence is among these."""
    return any(all(quote.document in documents for quote in path) for path in question.evidence)


def quotes_a_path(question: Question, sources: Sequence[pb.RankedParent]) -> bool:
    """Whether every quote of one alternative of the evidence stands in these sources."""
    texts = [(source.document.document_id, _plain(source.text)) for source in sources]
    return any(
        all(any(d == quote.document and _plain(quote.text) in text for d, text in texts) for quote in path)
        for path in question.evidence
    )


def _plain(text: str) -> str:
    """NFC with single spaces, so that line breaks of the Markdown do not matter."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
