"""Which parts of a passage the encoder shall read for a question, chosen by words alone.

Sentences that hold rare words of the question come first, then those that add words not yet held, then the
neighbours of the chosen ones; where nothing matches (another language), the beginning. The first line, as a
rule the heading, is always read. Chosen neighbours form one window.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import attrgetter

import numpy as np
from e5_encoder import Floats, Tokens
from matching import Vocabulary
from sentences import Span
from words import Word

# Tokens of one passage that the encoder reads at most, what each window costs besides its own (two special
# tokens and the prefix), and the longest piece that is chosen or left as a whole.
BUDGET, WINDOW_OVERHEAD, LONGEST_PIECE = 252, 4, 96
# A word that a chosen piece holds already is worth this part of its weight the second time.
_SEEN = 0.25
# Where words do not decide: standing at the beginning, and beside a chosen piece.
_AT_START, _BESIDE = 0.02, 0.05


def pieces(sentences: Sequence[Span], tokens: Tokens) -> tuple[list[Span], list[int]]:
    """The sentences, those longer than LONGEST_PIECE tokens cut, and how many tokens each piece has."""
    starts = tokens.offsets[:, 0]
    spans: list[Span] = []
    costs: list[int] = []
    for start, end in sentences:
        first, last = (int(place) for place in np.searchsorted(starts, (start, end)))
        cuts = range(first, max(last, first + 1), LONGEST_PIECE)
        bounds = [start, *(int(starts[cut]) for cut in cuts[1:]), end]
        spans.extend(pairwise(bounds))
        costs.extend(min(last, cut + LONGEST_PIECE) - cut for cut in cuts)
    return spans, costs


def holdings(asked: Sequence[Word], spans: Sequence[Span], read: Sequence[Word]) -> Floats:
    """[spans, asked] 0..1: how far the words in each span hold each word asked for."""
    bounds = [bisect_left(read, end, key=attrgetter("start")) for _, end in spans]
    parts = [Vocabulary(read[first:last]) for first, last in zip([0, *bounds], bounds, strict=False)]
    return np.array([[part.likeness(word) for word in asked] for part in parts], np.float32)


def windows(
    spans: Sequence[Span],
    costs: Sequence[int],
    holdings: Callable[[], Floats],
    weights: Floats,
    budget: int = BUDGET,
) -> list[Span]:
    """The ranges to read, in order and apart from each other, together within `budget` tokens.

    spans: adjoining pieces, at least one. costs: tokens of each. holdings: [pieces, words] 0..1, how far a
    piece holds a word of the question; asked for only where there is something to choose. weights: [words],
    how much each counts.
    """
    if sum(costs) + WINDOW_OVERHEAD <= budget:
        return [(spans[0][0], spans[-1][1])]
    return [
        (spans[first][0], spans[last][1])
        for first, last in _runs(sorted(_chosen(costs, holdings(), weights, budget)))
    ]


def _chosen(costs: Sequence[int], held: Floats, weights: Floats, budget: int) -> set[int]:
    tokens = np.array(costs)
    bias = _AT_START / (1.0 + np.arange(len(costs)))
    near, chosen = np.zeros(len(costs), bool), {0}
    left, best, seen = budget - costs[0] - WINDOW_OVERHEAD, 0, held[0]
    waiting = tokens > 0  # a piece without tokens has nothing to read
    while True:
        waiting[best], near[max(best - 1, 0) : best + 2] = False, True
        prices = tokens + np.where(near, 0, WINDOW_OVERHEAD)
        open_ = waiting & (prices <= left)
        if not open_.any():
            return chosen
        worth = held @ (weights * (1 - (1 - _SEEN) * seen)) + bias + _BESIDE * near
        best = int(np.where(open_, worth, -np.inf).argmax())
        left, seen = left - int(prices[best]), np.maximum(seen, held[best])
        chosen.add(best)


def _runs(indices: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], index
        else:
            runs.append((index, index))
    return runs
