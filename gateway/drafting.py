"""Keeps the book of one answer while it is written: tokens, first-token times, and how it ended."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from gateway.answer import Evidence, Finish, Kind, Notice, Outcome, Prompt, Usage
from gateway.verify import Verification
from radrag import call
from radrag.errors import Internal, RadragError
from radrag.triton import Piece

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Watch:
    """Who is told while an answer is written, so that what breaks off is counted too.

    `first_token(at, seconds)`: at the model, at the caller. `tokens(n)`: n more were written.
    """

    first_token: Callable[[str, float], None] = lambda at, seconds: None
    tokens: Callable[[int], None] = lambda count: None


class Draft:
    """The book of one answer; times count from `began` by `clock`, in seconds."""

    def __init__(self, clock: Callable[[], float], began: float, watch: Watch = Watch()) -> None:
        self._clock, self._began, self._watch = clock, began, watch
        self._usage = Usage()
        self._cut = False

    async def pieces(self, written: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
        """The pieces as they come, counted. A piece without text is no first token."""
        async with aclosing(written):
            async for piece in written:
                if piece.text and self._usage.first_token_model is None:
                    self._usage.first_token_model = self._now("model")
                self._usage.input_tokens = piece.input_tokens or self._usage.input_tokens
                self._usage.output_tokens += piece.output_tokens
                self._watch.tokens(piece.output_tokens)
                self._cut = self._cut or piece.finish_reason == "length"
                yield piece

    def sent(self) -> None:
        """Notes that checked text leaves for the caller."""
        if self._usage.first_token_caller is None:
            self._usage.first_token_caller = self._now("caller")

    def _now(self, at: str) -> float:
        seconds = self._clock() - self._began
        self._watch.first_token(at, seconds)
        return seconds

    def finish(
        self, evidence: Evidence, prompt: Prompt, answer: Verification, failure: RadragError | None
    ) -> Finish:
        """The last event: what was answered, and why it ended where it ended."""
        truncated = failure is not None or (self._cut and not answer.refused)
        cut = (Notice(Kind.TRUNCATED, "generator"),) if truncated else ()
        return Finish(
            evidence,
            answer.outcome,
            "failed" if failure else _reason(answer, truncated),
            prompt.text,
            truncated,
            failure,
            tuple(answer.citations) if answer.outcome is Outcome.ANSWERED else (),
            (*evidence.warnings, *answer.warnings, *cut),
            self._usage,
        )


async def again(first: Piece | None, rest: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
    """The pieces from the first on, which was taken already. Who made `rest` closes it."""
    if first is not None:
        yield first
    async for piece in rest:
        yield piece


def ours(error: Exception) -> RadragError:
    """The failure a finish carries. What is not ours keeps its text to itself."""
    if isinstance(error, RadragError):
        return error
    request_id = call.current().request_id
    log.error("answer failed: %s, request %s", type(error).__name__, request_id)
    return Internal(f"internal error, request {request_id}", "INTERNAL")


def _reason(answer: Verification, truncated: bool) -> str:
    return answer.refused or ("length" if truncated else "complete")
