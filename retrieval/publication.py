"""One publication on its way into the store: every passage is checked, made a point, written, and counted.

Nothing of it can be found until the version table says so.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, sqrt

from radrag.errors import InvalidArgument, Unavailable
from retrieval.bm25 import Bm25, SparseVector
from retrieval.document import Child, Document, Parent, edition
from retrieval.fingerprint import Fingerprint
from retrieval.frequencies import Frequencies, count, total
from retrieval.points import CHILD, PARENT, child_point, of_edition, parent_point
from retrieval.store import Collection, Point, Store


@dataclass(frozen=True)
class Header:
    """What is to be published: the document version, what made it, and how much of it is to come."""

    document: Document
    fingerprint: Fingerprint
    parents: int
    children: int
    generation: str = ""

    @cached_property
    def edition(self) -> str:
        """See retrieval.document.edition."""
        return edition(self.document, self.parents, self.children)


@dataclass(frozen=True)
class Batch:
    """Some of the passages."""

    parents: Sequence[Parent]
    children: Sequence[Child]


@dataclass
class Publication:
    """What was received so far: the ranges of the parents, which parent and range each child names."""

    header: Header
    bm25: Bm25
    parents: dict[str, tuple[int, int]] = field(default_factory=dict)
    children: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    frequencies: Frequencies = field(default_factory=Frequencies)

    async def write(self, store: Store, collection: Collection, batches: AsyncIterator[Batch]) -> Frequencies:
        """Writes all batches and returns the children's term frequencies.

        Raises InvalidArgument for a passage that breaks a rule, Unavailable when the store holds another
        number of points than it was given.
        """
        async for batch in batches:
            await self._write(store, collection, batch)
        self._check_whole()
        await store.secure(collection)
        for level, announced in ((PARENT, self.header.parents), (CHILD, self.header.children)):
            counted = await store.count(collection, of_edition(self.header.edition, level))
            if counted != announced:
                raise Unavailable(f"the store holds {counted} of {announced} {level} points", "STORE_FAILED")
        return self.frequencies

    async def _write(self, store: Store, collection: Collection, batch: Batch) -> None:
        points = await asyncio.to_thread(self._points, batch)  # stemming a full batch takes a second
        await store.write(collection, points)

    def _points(self, batch: Batch) -> list[Point]:
        for at, parent in enumerate(batch.parents):
            self._take_parent(f"passages.parents[{at}]", parent)
        for at, child in enumerate(batch.children):
            self._take_child(f"passages.children[{at}]", child)
        words = [self._words(child) for child in batch.children]
        self.frequencies = total([self.frequencies, count(words)])
        document, own = self.header.document, self.header.edition
        points = [parent_point(document, own, parent) for parent in batch.parents]
        return points + [
            child_point(document, own, child, vector)
            for child, vector in zip(batch.children, words, strict=True)
        ]

    def _words(self, child: Child) -> SparseVector:
        return self.bm25.document(f"{child.context}\n{child.text}")

    def _take_parent(self, path: str, parent: Parent) -> None:
        if parent.parent_id in self.parents:
            raise InvalidArgument(f"{path}.parent_id", "must be distinct")
        _check_range(path, parent)
        self.parents[parent.parent_id] = (parent.start, parent.end)

    def _take_child(self, path: str, child: Child) -> None:
        if child.child_id in self.children:
            raise InvalidArgument(f"{path}.child_id", "must be distinct")
        _check_range(path, child)
        _check_vector(path, child, self.header.fingerprint)
        self.children[child.child_id] = (child.parent_id, child.start, child.end)

    def _check_whole(self) -> None:
        received = {"parents": len(self.parents), "children": len(self.children)}
        for name, announced in (("parents", self.header.parents), ("children", self.header.children)):
            if received[name] != announced:
                raise InvalidArgument(f"header.{name}", f"{announced} announced, {received[name]} received")
        for parent_id, start, end in self.children.values():
            if parent_id not in self.parents:
                raise InvalidArgument("passages.children.parent_id", "must be the id of a parent")
            first, last = self.parents[parent_id]
            if not first <= start < end <= last:
                raise InvalidArgument("passages.children.start", "a child must lie within its parent")


def _check_range(path: str, passage: Parent | Child) -> None:
    if passage.start >= passage.end or len(passage.text) != passage.end - passage.start:
        raise InvalidArgument(f"{path}.text", "must have end - start characters, at least 1")


def _check_vector(path: str, child: Child, fingerprint: Fingerprint) -> None:
    dimension = fingerprint.embedder.dimension
    if len(child.vector) != dimension:
        raise InvalidArgument(f"{path}.vector", f"must have {dimension} numbers")
    length = sqrt(sum(number * number for number in child.vector))
    if not isfinite(length) or length == 0:
        raise InvalidArgument(f"{path}.vector", "must be finite and not all zero")
    if fingerprint.normalized and abs(length - 1) > 0.01:  # float16 weights leave 0.001
        raise InvalidArgument(f"{path}.vector", "must have length 1")
