"""Orders passages, by rerank score or by fusion. Pure; ties keep the search's order."""

import math
from collections.abc import Sequence
from dataclasses import replace

from gateway.passage import Passage


def by_score(passages: Sequence[Passage], scores: Sequence[float]) -> tuple[Passage, ...]:
    """Best rerank score first; a row that failed (NaN) has no score and stands last."""
    scored = [_scored(one, score) for one, score in zip(passages, scores, strict=True)]
    return tuple(sorted(scored, key=_rerank, reverse=True))


def by_fusion(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The search's own order: best fused score first."""
    return tuple(sorted(passages, key=lambda one: one.scores.fused or 0.0, reverse=True))


def _scored(passage: Passage, score: float) -> Passage:
    rerank = None if math.isnan(score) else min(1.0, max(0.0, score))
    return replace(passage, scores=replace(passage.scores, rerank=rerank))


def _rerank(passage: Passage) -> float:
    return -1.0 if passage.scores.rerank is None else passage.scores.rerank
