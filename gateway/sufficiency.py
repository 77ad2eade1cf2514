"""Whether the evidence is enough to ask a generator. Pure; where no threshold speaks, the answer is no."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.answer import Outcome
from gateway.passage import Passage
from gateway.support import coverage
from gateway.thresholds import Thresholds


@dataclass(frozen=True)
class Judge:
    """Applies the thresholds of the models in use."""

    thresholds: Thresholds
    reranker: str

    def ranked(self, passages: Sequence[Passage]) -> tuple[Outcome, str]:
        """The outcome and its reason for passages in the reranker's order."""
        if not passages:
            return Outcome.INSUFFICIENT_EVIDENCE, "no_sources"
        least, best = self.thresholds.rerank.get(self.reranker), passages[0].scores.rerank
        return _outcome(least is not None and best is not None and best >= least)

    def degraded(self, question: str, passages: Sequence[Passage], embedder: str) -> tuple[Outcome, str]:
        """The same without a reranker: a passage must hold the question's words and be near in meaning.

        `embedder` is empty when there was none: then nothing says how near it is.
        """
        if not passages:
            return Outcome.INSUFFICIENT_EVIDENCE, "no_sources"
        least = self.thresholds.degraded.get(embedder)
        return _outcome(
            least is not None
            and any(
                one.scores.dense is not None
                and one.scores.dense >= least.cosine
                and coverage(question, one.readable) >= least.coverage
                for one in passages
            )
        )


def _outcome(enough: bool) -> tuple[Outcome, str]:
    return (Outcome.ANSWERED, "complete") if enough else (Outcome.INSUFFICIENT_EVIDENCE, "below_threshold")
