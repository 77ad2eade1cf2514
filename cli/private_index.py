"""An index of one evaluation run alone: the product's own store, words and fusion, in a temporary folder.

It skips what a served index needs and a measurement does not: the table of live versions, and parents.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from evaluation.passages import Hit
from evaluation.passages import Parent as EvaluatedParent
from evaluation.ranking import Legs
from evaluation.retrieval import Indexed, Vectors
from retrieval import fusion
from retrieval.bm25 import Bm25, SparseVector
from retrieval.document import Child, Document
from retrieval.edge_store import EdgeStore
from retrieval.frequencies import Frequencies, count
from retrieval.points import child_point
from retrieval.store import Collection, Point

GENERATION, EDITION, EVERYTHING = "evaluation", "0" * 32, ()


class PrivateIndex:
    """Children by topic, searched by both legs. `each` is how many children a leg takes from a topic."""

    def __init__(self, folder: Path, each: int, bm25: Bm25 | None = None) -> None:
        self._store, self._bm25, self._each = EdgeStore(folder), bm25 or Bm25(), each
        self._topics: list[str] = []
        self._frequencies = Frequencies()

    async def add(self, documents: Sequence[Indexed]) -> None:
        """Writes all documents; once, since term frequencies are counted over all of them."""
        points: dict[str, list[Point]] = {}
        for one in documents:
            points.setdefault(one.topic, []).extend(self._points(one))
        self._topics = sorted(points)
        self._frequencies = count(p.bm25 for some in points.values() for p in some if p.bm25 is not None)
        for topic, some in points.items():
            collection = Collection(GENERATION, topic)
            await self._store.create(collection, len(some[0].dense or ()))
            await self._store.write(collection, some)

    async def search(self, question: str, vector: Vectors) -> Legs:
        """The best children of each topic by each leg."""
        words = self._frequencies.idf(self._bm25.question(question))

        async def leg(topic: str, query: Sequence[float] | SparseVector) -> list[Hit]:
            found = await self._store.nearest(Collection(GENERATION, topic), query, EVERYTHING, self._each)
            return [Hit(hit.passage_id, hit.score) for hit in found]

        dense = await asyncio.gather(*(leg(topic, vector[0].tolist()) for topic in self._topics))
        bm25 = await asyncio.gather(*(leg(topic, words) for topic in self._topics if words.indices))
        empty: list[list[Hit]] = [[] for _ in self._topics]
        pairs = zip(self._topics, dense, bm25 or empty, strict=True)
        return {topic: {"dense": near, "bm25": worded} for topic, near, worded in pairs}

    async def close(self) -> None:
        """Lets go of the store."""
        await self._store.close()

    def _points(self, one: Indexed) -> list[Point]:
        document = _document(one)
        return [
            child_point(document, EDITION, child, self._bm25.document(f"{child.context}\n{child.text}"))
            for parent, vectors in zip(one.parents, one.vectors, strict=True)
            for child in _children(parent, vectors)
        ]


def fuse(legs: Legs, way: str, rrf: fusion.Rrf, each: int, most: int) -> list[str]:
    """Child ids by the product's fusion, best first, `most` at most."""
    collections = [
        {leg: [fusion.Scored(hit.child, hit.score) for hit in hits] for leg, hits in found.items()}
        for found in legs.values()
    ]
    return [one.id for one in fusion.WAYS[way](collections, rrf, each)[:most]]


def _children(parent: EvaluatedParent, vectors: Vectors) -> list[Child]:
    return [
        Child(child.id, parent.id, child.start, child.end, child.text, child.context, vector.tolist())
        for child, vector in zip(parent.children, vectors, strict=True)
    ]


def _document(one: Indexed) -> Document:
    named = one.document
    return Document(
        named.id, "", named.title, "", one.topic, "article", 3, "en", ("public",), 0, None, "", ""
    )  # fmt: skip
