"""Joins small neighbours into units that can be read alone, the smallest two first.

A heap knows the smallest two: looked for anew each time, they would cost the square of a document's headings.
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from ingest.cutting import Range

Join = Callable[[int, int], bool]
"""Whether two neighbours of so many tokens become one."""


def joined(parts: Sequence[Range], sizes: Sequence[int], join: Join) -> list[Range]:
    """The units of neighbours that follow each other without a gap; sizes add up. Of two pairs as small, the
    first."""
    row = Row(list(sizes), join)
    pairs = [pair for left in range(len(parts) - 1) for pair in row.pair(left)]
    heapify(pairs)
    while pairs:
        size, left, right = heappop(pairs)
        if row.is_pair(size, left, right):
            for pair in row.unite(left, right):
                heappush(pairs, pair)
    return [(parts[at][0], parts[row.after[at] - 1][1]) for at in row.heads()]


class Row:
    """Neighbours by their number; one that was joined to the one on its left has size -1."""

    def __init__(self, sizes: list[int], join: Join) -> None:
        self._sizes, self._join = sizes, join
        self.after = list(range(1, len(sizes) + 1))
        self._before = list(range(-1, len(sizes) - 1))

    def heads(self) -> list[int]:
        """The numbers of those that are left."""
        return [at for at, size in enumerate(self._sizes) if size >= 0]

    def pair(self, left: int) -> Iterator[tuple[int, int, int]]:
        """One and its right neighbour, with their size, where they should be joined."""
        right = self.after[left]
        if right < len(self._sizes) and self._join(self._sizes[left], self._sizes[right]):
            yield self._sizes[left] + self._sizes[right], left, right

    def is_pair(self, size: int, left: int, right: int) -> bool:
        """Whether they still are what they were when they were noted."""
        both = self._sizes[left], self._sizes[right]
        return min(both) >= 0 and self.after[left] == right and sum(both) == size

    def unite(self, left: int, right: int) -> Iterator[tuple[int, int, int]]:
        """Makes them one. The pairs it has now follow."""
        self._sizes[left] += self._sizes[right]
        self._sizes[right] = -1
        self.after[left] = self.after[right]
        if self.after[left] < len(self._sizes):
            self._before[self.after[left]] = left
        if self._before[left] >= 0:
            yield from self.pair(self._before[left])
        yield from self.pair(left)
