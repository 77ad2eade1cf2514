"""Exact search of children whose vectors need not fit in memory: they lie in a file and pass by in blocks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Vectors

Leg: TypeAlias = tuple[str, str, str]
"""Label, topic and language: what one dense leg of a caller with this label compares."""
Rows: TypeAlias = NDArray[np.int64]

BLOCK = 20_000  # vectors compared at once: 123 MB of 1,536 numbers


class Exact:
    """Children in the order they were added, by leg; their vectors in the file `path`."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path, self._dimension = path, dimension
        self._file = path.open("wb")
        self._ids: list[str] = []
        self._rows: dict[Leg, list[range]] = {}
        self.documents: list[range] = []
        """The rows of each document's children."""

    def add(
        self, topic: str, language: str, labels: Iterable[str], ids: Sequence[str], vectors: Vectors
    ) -> None:
        """The children of one document."""
        rows = range(len(self._ids), len(self._ids) + len(ids))
        self._ids += ids
        self.documents.append(rows)
        for label in labels:
            self._rows.setdefault((label, topic, language), []).append(rows)
        self._file.write(vectors.tobytes())

    def vectors(self) -> Vectors:
        """All vectors, mapped from the file."""
        self._file.flush()
        return np.memmap(self._path, np.float32, "r", shape=(len(self._ids), self._dimension))

    def seen(self) -> dict[str, int]:
        """How many children each label shows."""
        shown: Counter[str] = Counter()
        for (label, *_), parts in self._rows.items():
            shown[label] += sum(map(len, parts))
        return dict(shown)

    def legs(self, asked: Vectors, wanted: int) -> Iterator[tuple[Leg, list[frozenset[str]]]]:
        """Each leg, and the ids of the `wanted` nearest to every question in it."""
        vectors = self.vectors()
        for leg, parts in self._rows.items():
            rows = np.concatenate([np.arange(one.start, one.stop) for one in parts])
            best = nearest(vectors, rows, asked, wanted)
            yield leg, [frozenset(self._ids[row] for row in found) for found in best]

    def close(self) -> None:
        """Removes the file."""
        self._file.close()
        self._path.unlink()


def nearest(vectors: Vectors, rows: Rows, asked: Vectors, wanted: int) -> Rows:
    """The `wanted` of `rows` nearest to each question, in any order: [questions, at most wanted]."""
    best, scores = np.zeros((len(asked), 0), np.int64), np.zeros((len(asked), 0), np.float32)
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK]
        best = np.concatenate([best, np.broadcast_to(some, (len(asked), len(some)))], axis=1)
        scores = np.concatenate([scores, asked @ vectors[some].T], axis=1)
        kept = _greatest(scores, wanted)
        best, scores = (np.take_along_axis(each, kept, axis=1) for each in (best, scores))
    return best


def _greatest(scores: Vectors, wanted: int) -> Rows:
    wanted = min(wanted, scores.shape[1])
    places: Rows = np.argpartition(-scores, wanted - 1, axis=1)[:, :wanted]
    return places
