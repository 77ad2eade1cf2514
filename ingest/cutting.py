"""Cuts a range into pieces at the cheapest edges, under a limit in tokens and above a floor in characters.

A shortest path over the edges: a piece costs its last edge, and the square of its distance from the wished
size. One below the floor costs more than all else together, so there is one only where no cut avoids it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.edges import Edge
from ingest.tokens import Ruler

Range = tuple[int, int]

BELOW_FLOOR = 1e6
# Of a piece beyond its tokens: blank lines of code have none, and each would see all before it.
MOST_EDGES = 1000


@dataclass(frozen=True)
class Wish:
    """What pieces should be like. `tokens` is never exceeded; sizes are in characters."""

    tokens: int
    floor: int
    size: float


@dataclass(frozen=True)
class Cut:
    """Where pieces end, the last one included, and how many of them are below the floor."""

    ends: list[int]
    below: int


def cut(start: int, end: int, edges: Sequence[Edge], ruler: Ruler, wish: Wish) -> Cut | None:
    """The best cut of [start, end) at `edges`, which lie inside and ascend; none if none keeps the limit."""
    places = np.array([start, *(edge.position for edge in edges), end])
    prices = np.array([0.0, *(edge.cost for edge in edges), 0.0])
    tokens = np.searchsorted(ruler.ends, places, side="right")
    best = np.full(len(places), np.inf)
    best[0] = 0.0
    before = np.zeros(len(places), dtype=np.int64)
    lows = np.searchsorted(tokens, tokens - wish.tokens, side="left")
    lows = np.maximum(lows, np.arange(len(places)) - MOST_EDGES - wish.tokens)
    for at in range(1, len(places)):
        low = int(lows[at])
        costs = best[low:at] + piece_costs(places[at] - places[low:at], wish) + prices[at]
        before[at] = low + int(np.argmin(costs)) if len(costs) else at
        best[at] = costs[before[at] - low] if len(costs) else np.inf
    return Cut(walk(places, before), round(float(best[-1]) // BELOW_FLOOR)) if np.isfinite(best[-1]) else None


def cut_until_kept(
    pieces: Callable[[int], list[Range]], count: Callable[[Range], int], most: int
) -> list[Range]:
    """The pieces, none of more than `most` tokens on its own.

    Cut inside a word, or behind trailing blanks, a text alone can have tokens that the one pass over the
    document did not see: then the limit is lowered by what was too much, and the pieces are cut again.
    """
    limit = most
    while True:
        found = pieces(limit)
        excess = max(map(count, found)) - most
        if excess <= 0 or limit <= 1:
            return found
        limit = max(1, limit - excess)


def piece_costs(sizes: NDArray[np.int64], wish: Wish) -> NDArray[np.float64]:
    missed: NDArray[np.float64] = np.square(sizes / wish.size - 1) + BELOW_FLOOR * (sizes < wish.floor)
    return missed


def walk(places: NDArray[np.int64], before: NDArray[np.int64]) -> list[int]:
    ends, at = [], len(places) - 1
    while at > 0:
        ends.append(int(places[at]))
        at = int(before[at])
    return ends[::-1]
