"""Writes an index of made-up children straight to the edge store, and what exact search finds in it."""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks import corpus
from benchmarks.corpus import LANGUAGES, SHARES, TOPICS, Made, Space, Vectors
from retrieval.bm25 import Bm25
from retrieval.document import edition
from retrieval.edge_store import EdgeStore
from retrieval.fingerprint import Fingerprint, QueryEmbedder
from retrieval.frequencies import Frequencies, count, total
from retrieval.points import child_point, parent_point
from retrieval.snapshot import Generation, Version
from retrieval.store import Collection, Point

GENERATION, NEAREST = "g1", 15
MADE = ("made", "0" * 64)  # the embedder that there is none of: name, hash
POINTS_AT_ONCE = 2000


@dataclass(frozen=True)
class Asked:
    """A question, its vector, and the ids that exact search finds by label, topic and language."""

    text: str
    vector: Sequence[float]
    nearest: Mapping[tuple[str, str, str], frozenset[str]]


@dataclass(frozen=True)
class Kept:
    """What goes with the store's folder: the generation as the version table would tell it, and questions."""

    generation: Generation
    asked: Sequence[Asked]
    seen: Mapping[str, int]


async def made(folder: Path, children: int, dimension: int, questions: int) -> float:
    """Writes store, generation and questions below `folder`; the seconds that the store's writes took."""
    store, builder = EdgeStore(folder / "edge"), Builder()
    seconds = 0.0
    for topic in TOPICS:
        await store.create(Collection(GENERATION, topic), dimension)
    documents = corpus.documents(children, dimension)
    while some := list(islice(documents, POINTS_AT_ONCE // 40)):
        points = builder.points(some)
        began = perf_counter()
        for topic, own in points.items():
            await store.write(Collection(GENERATION, topic), own)
        seconds += perf_counter() - began
    began = perf_counter()
    await store.point_to(GENERATION, TOPICS)
    await store.close()
    seconds += perf_counter() - began
    kept = Kept(builder.generation(dimension), builder.asked(questions, children, dimension), builder.seen())
    (folder / "kept.pickle").write_bytes(pickle.dumps(kept))
    return seconds


class Builder:
    """Turns made-up documents into points, and remembers what is needed to ask about them."""

    def __init__(self) -> None:
        self._bm25 = Bm25()
        self._words = cache(self._bm25.document)  # the same texts come again and again
        self._versions: dict[str, Version] = {}
        self._frequencies: list[Frequencies] = []
        self._held: list[tuple[str, str, frozenset[str], list[str], Vectors]] = []

    def points(self, documents: Sequence[Made]) -> dict[str, list[Point]]:
        """The points of some documents by topic."""
        found: dict[str, list[Point]] = {}
        for one in documents:
            found.setdefault(one.document.topic, []).extend(self._points(one))
        return found

    def _points(self, one: Made) -> Iterator[Point]:
        document, own = one.document, edition(one.document, len(one.parents), len(one.children))
        words = [self._words(child.text) for child in one.children]
        self._frequencies.append(count(words))
        self._versions[own] = Version(
            own, document, True, len(one.parents), len(one.children), Frequencies(), 1
        )
        vectors = np.asarray([child.vector for child in one.children], np.float32)
        ids = [child.child_id for child in one.children]
        self._held.append(
            (document.topic, document.language, frozenset(document.access_labels), ids, vectors)
        )
        yield from (parent_point(document, own, parent) for parent in one.parents)
        for child, sparse in zip(one.children, words, strict=True):
            yield child_point(document, own, child, sparse)

    def generation(self, dimension: int) -> Generation:
        """The generation with all documents in force."""
        made_by = Fingerprint(
            QueryEmbedder(*MADE, dimension), True, "chunk", "", "", "0" * 64, "made", 1800, 512, 900
        )
        return Generation(
            GENERATION, made_by, self._bm25.sha256, self._versions, total(self._frequencies),
            frozenset(TOPICS), frozenset(LANGUAGES),
        )  # fmt: skip

    def seen(self) -> dict[str, int]:
        """How many children each label shows."""
        shown: dict[str, int] = {}
        for _, _, labels, ids, _ in self._held:
            for label in labels:
                shown[label] = shown.get(label, 0) + len(ids)
        return shown

    def asked(self, questions: int, children: int, dimension: int) -> list[Asked]:
        """Questions near children drawn at random, with what exact search finds."""
        draw = np.random.default_rng(11)
        rows = [self._held[place] for place in draw.integers(0, len(self._held), questions)]
        points = np.stack([vectors[draw.integers(0, len(vectors))] for *_, vectors in rows])
        asked = Space(children, dimension).near(points)
        nearest = [dict[tuple[str, str, str], frozenset[str]]() for _ in asked]
        for leg, ids, vectors in self._legs():
            for found, best in zip(nearest, _exact(asked, vectors), strict=True):
                found[leg] = frozenset(ids[place] for place in best)
        texts = corpus.questions("en", questions)
        return [
            Asked(text, vector.tolist(), found)
            for text, vector, found in zip(texts, asked, nearest, strict=True)
        ]

    def _legs(self) -> Iterator[tuple[tuple[str, str, str], list[str], Vectors]]:
        for label in ("public", *SHARES):
            for topic in TOPICS:
                for language in LANGUAGES:
                    held = [one for one in self._held if one[:2] == (topic, language) and label in one[2]]
                    ids = [each for one in held for each in one[3]]
                    if ids:
                        yield (label, topic, language), ids, np.concatenate([one[4] for one in held])


def _exact(asked: Vectors, vectors: Vectors) -> NDArray[np.int64]:
    """The places of the nearest vectors for each question."""
    cosines = asked @ vectors.T
    wanted = min(NEAREST, cosines.shape[1])
    best: NDArray[np.int64] = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
    return best
