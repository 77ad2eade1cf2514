"""Evidence on documents, mapped to any chunking: which chunks hold it, alone or in a row.

A span is satisfied by any one chunk that holds it whole; where none does, by the shortest run of neighbours
that covers it, all of them. A path is satisfied when all its spans are; a question, when any path is.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.datasets import Span
from evaluation.measures import holds

Path = tuple[Span, ...]
"""Spans of which all are needed."""
Evidence = tuple[Path, ...]
"""Paths of which any is enough."""


@dataclass(frozen=True)
class Chunk:
    """A chunk of some chunking, by its id and its place."""

    id: str
    place: Span


@dataclass(frozen=True)
class Mapped:
    """Evidence in chunks: path → span → the sets of chunks each of which satisfies the span.

    A span that no run of chunks covers has no set: it cannot be found in this chunking.
    """

    paths: tuple[tuple[tuple[frozenset[str], ...], ...], ...]

    @property
    def relevant(self) -> set[str]:
        """Every chunk that has a part in satisfying a span."""
        return {chunk for path in self.paths for sets in path for one in sets for chunk in one}

    def recall(self, chunks: Collection[str]) -> float:
        """The share of spans these chunks satisfy, on the path where it is greatest; 0..1."""
        found = set(chunks)
        shares = [sum(any(one <= found for one in sets) for sets in path) / len(path) for path in self.paths]
        return max(shares, default=0.0)


class Chunking:
    """The chunks of some documents, by document and in their order. `texts`: document → its whole text."""

    def __init__(self, chunks: Sequence[Chunk], texts: Mapping[str, str]) -> None:
        self.places = {chunk.id: chunk.place for chunk in chunks}
        self._texts = texts
        self._by_document: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in sorted(chunks, key=lambda one: (one.place.start, one.place.end)):
            self._by_document[chunk.place.document].append(chunk)

    def mapped(self, evidence: Evidence) -> Mapped:
        """The evidence in these chunks."""
        return Mapped(tuple(tuple(self.satisfying(span) for span in path) for path in evidence))

    def satisfying(self, span: Span) -> tuple[frozenset[str], ...]:
        """The sets of chunks each of which satisfies the span: single chunks, or else the shortest runs."""
        bare, chunks = self.bare(span), self._by_document[span.document]
        whole = [frozenset({chunk.id}) for chunk in chunks if holds(chunk.place, bare)]
        return tuple(whole or self._runs(bare, chunks))

    def beginning(self, span: Span) -> str | None:
        """The first chunk in which the span begins: the one chunk id a naive annotation names."""
        bare = self.bare(span)
        here = (c.id for c in self._by_document[span.document] if c.place.start <= bare.start < c.place.end)
        return next(here, None)

    def bare(self, span: Span) -> Span:
        """The span without white space at its ends: a chunk that is trimmed still holds it."""
        text = self._texts[span.document][span.start : span.end]
        left = len(text) - len(text.lstrip())
        return Span(span.document, span.start + left, span.start + max(left, len(text.rstrip())))

    def _runs(self, span: Span, chunks: Sequence[Chunk]) -> list[frozenset[str]]:
        near = [c for c in chunks if c.place.start < span.end and span.start < c.place.end]
        for length in range(2, len(near) + 1):
            runs = [near[first : first + length] for first in range(len(near) - length + 1)]
            if covering := [run for run in runs if self._covers(run, span)]:
                return [frozenset(chunk.id for chunk in run) for run in covering]
        return []

    def _covers(self, run: Sequence[Chunk], span: Span) -> bool:
        text, reached = self._texts[span.document], span.start
        for chunk in run:
            if text[reached : max(reached, chunk.place.start)].strip():
                return False
            reached = max(reached, chunk.place.end)
        return not text[reached : span.end].strip()
