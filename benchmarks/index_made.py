"""Writes an index of made-up children straight to the edge store, and what exact search finds in it.

The writer takes any store: a Qdrant server gets the same points a second time, made anew.
"""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import numpy as np

from benchmarks import corpus
from benchmarks.corpus import LANGUAGES, TOPICS, Made, Space
from benchmarks.exact import Exact, Leg
from retrieval.bm25 import Bm25
from retrieval.document import edition
from retrieval.edge_store import EdgeStore
from retrieval.fingerprint import Fingerprint, QueryEmbedder
from retrieval.frequencies import Frequencies, total
from retrieval.frequencies import count as frequencies_of
from retrieval.points import child_point, parent_point
from retrieval.snapshot import Generation, Version
from retrieval.store import Collection, Point, Store

ByTopic: TypeAlias = Mapping[str, Sequence[Point]]

GENERATION, NEAREST = "g1", 15
MADE = ("made", "0" * 64)  # the embedder that there is none of: name, hash
POINTS_AT_ONCE = 2000
SECURED = 10  # so many times that, then the store's log is let go


@dataclass(frozen=True)
class Asked:
    """A question, its vector, and the ids that exact search finds by label, topic and language."""

    text: str
    vector: Sequence[float]
    nearest: Mapping[Leg, frozenset[str]]


@dataclass(frozen=True)
class Kept:
    """What goes with the store's folder: the generation as the version table would tell it, and questions."""

    generation: Generation
    asked: Sequence[Asked]
    seen: Mapping[str, int]


async def made(folder: Path, children: int, dimension: int, questions: int) -> float:
    """Writes store, generation and questions below `folder`; the seconds that the store's writes took.

    At no time are all vectors in memory.
    """
    store, builder = EdgeStore(folder / "edge"), Builder(Exact(folder / "vectors.f32", dimension))
    parts = map(builder.points, _parts(children, dimension))
    seconds = await _written(store, GENERATION, dimension, parts) + await _closed(store)
    asked = builder.asked(questions, children, dimension)
    kept = Kept(builder.generation(dimension), asked, builder.exact.seen())
    builder.exact.close()
    (folder / "kept.pickle").write_bytes(pickle.dumps(kept))
    return seconds


async def made_again(store: Store, kept: Kept) -> None:
    """Writes the same points into another store, as the generation that `kept` names; no alias moves."""
    dimension = kept.generation.fingerprint.embedder.dimension
    parts = map(Pointed().by_topic, _parts(kept.seen["public"], dimension))  # all children are public
    await _written(store, kept.generation.name, dimension, parts)


def _parts(children: int, dimension: int) -> Iterator[list[Made]]:
    """The documents, so many at once that their points are written together."""
    documents = corpus.documents(children, dimension)
    while some := list(islice(documents, POINTS_AT_ONCE // 40)):
        yield some


async def _written(store: Store, generation: str, dimension: int, parts: Iterable[ByTopic]) -> float:
    """Makes the collections and writes the points; the seconds of the writes alone."""
    for topic in TOPICS:
        await store.create(Collection(generation, topic), dimension)
    seconds = 0.0
    for number, points in enumerate(parts, 1):
        began = perf_counter()
        for topic, own in points.items():
            await store.write(Collection(generation, topic), own)
            if number % SECURED == 0:
                await store.secure(Collection(generation, topic))
        seconds += perf_counter() - began
    return seconds


async def _closed(store: EdgeStore) -> float:
    """Makes the generation the current one and closes the store; the seconds that took."""
    began = perf_counter()
    await store.point_to(GENERATION, TOPICS)
    await store.close()
    return perf_counter() - began


class Pointed:
    """Turns made-up documents into points."""

    def __init__(self) -> None:
        self.bm25 = Bm25()
        self.words = cache(self.bm25.document)  # the same texts come again and again

    def by_topic(self, documents: Sequence[Made]) -> dict[str, list[Point]]:
        """The points of some documents by topic."""
        found: dict[str, list[Point]] = {}
        for one in documents:
            found.setdefault(one.document.topic, []).extend(self._points(one))
        return found

    def _points(self, one: Made) -> Iterator[Point]:
        document, own = one.document, _edition(one)
        yield from (parent_point(document, own, parent) for parent in one.parents)
        for child in one.children:
            yield child_point(document, own, child, self.words(child.text))


class Builder:
    """Turns made-up documents into points, and remembers what is needed to ask about them."""

    def __init__(self, exact: Exact) -> None:
        self.exact = exact
        self._pointed = Pointed()
        self._versions: dict[str, Version] = {}
        self._frequencies = Frequencies()

    def points(self, documents: Sequence[Made]) -> dict[str, list[Point]]:
        """The points of some documents by topic."""
        for one in documents:
            self._remember(one)
        words = [self._pointed.words(child.text) for one in documents for child in one.children]
        self._frequencies = total([self._frequencies, frequencies_of(words)])
        return self._pointed.by_topic(documents)

    def _remember(self, one: Made) -> None:
        document, own, children = one.document, _edition(one), one.children
        self._versions[own] = Version(own, document, True, len(one.parents), len(children), Frequencies(), 1)
        vectors = np.asarray([child.vector for child in children], np.float32)
        ids = [child.child_id for child in children]
        self.exact.add(document.topic, document.language, document.access_labels, ids, vectors)

    def generation(self, dimension: int) -> Generation:
        """The generation with all documents in force."""
        made_by = Fingerprint(
            QueryEmbedder(*MADE, dimension), True, "chunk", "", "", "0" * 64, "made", 1800, 512, 900
        )
        return Generation(
            GENERATION, made_by, self._pointed.bm25.sha256, self._versions, self._frequencies,
            frozenset(TOPICS), frozenset(LANGUAGES),
        )  # fmt: skip

    def asked(self, questions: int, children: int, dimension: int) -> list[Asked]:
        """Questions near children drawn at random, with what exact search finds."""
        draw = np.random.default_rng(11)
        places = draw.integers(0, len(self.exact.documents), questions)
        rows = [rows[draw.integers(0, len(rows))] for rows in map(self.exact.documents.__getitem__, places)]
        asked = Space(children, dimension).near(self.exact.vectors()[rows])
        nearest = [dict[Leg, frozenset[str]]() for _ in asked]
        for leg, best in self.exact.legs(asked, NEAREST):
            for own, ids in zip(nearest, best, strict=True):
                own[leg] = ids
        texts = corpus.questions("en", questions)
        return [
            Asked(text, vector.tolist(), found)
            for text, vector, found in zip(texts, asked, nearest, strict=True)
        ]


def _edition(one: Made) -> str:
    return edition(one.document, len(one.parents), len(one.children))
