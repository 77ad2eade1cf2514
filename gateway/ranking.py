"""Orders passages, by rerank score or by fusion. Pure; ties keep the search's order."""

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from gateway.passage import Passage

_FAILED = -1.0


def by_score(passages: Sequence[Passage], scores: Sequence[float], most: int) -> tuple[Passage, ...]:
    """The `most` with the best rerank scores; a row that failed (NaN) has no score and stands last."""
    ordered = sorted(zip(map(_within, scores), passages, strict=True), key=itemgetter(0), reverse=True)
    return tuple(_scored(one, score) for score, one in ordered[:most])


def by_fusion(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The search's own order: best fused score first."""
    return tuple(sorted(passages, key=lambda one: one.scores.fused or 0.0, reverse=True))


def _within(score: float) -> float:
    return _FAILED if math.isnan(score) else min(1.0, max(0.0, score))


def _scored(passage: Passage, score: float) -> Passage:
    return replace(passage, scores=replace(passage.scores, rerank=None if score == _FAILED else score))
