"""What retrieval needs of a vector store: a few verbs over one collection per generation and topic.

`edge_store.py` and `server_store.py` are the two; one contract-test suite holds both to this page.
Every verb raises `radrag.errors.Unavailable` when the store fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from retrieval.bm25 import SparseVector

Payload: TypeAlias = Mapping[str, str | int | list[str] | list[int]]

KEYWORDS = ("edition", "level", "passage_id", "document_id", "language", "category", "access_labels")
INTEGERS = ("valid_from", "valid_to")
HIT_FIELDS = ("edition", "passage_id", "parent_id", "start", "end")
FOREVER = 2**31 - 1
"""The `valid_to` of a point without an end."""


@dataclass(frozen=True)
class Collection:
    """One topic of one generation. Generations are named ^[a-z0-9]{1,40}$."""

    generation: str
    topic: str

    def __str__(self) -> str:
        return f"{self.generation}_{self.topic}"


@dataclass(frozen=True)
class Point:
    """A point: a parent has no vectors, a child has both."""

    point_id: str
    payload: Payload
    dense: Sequence[float] | None = None
    bm25: SparseVector | None = None


@dataclass(frozen=True)
class Among:
    """The field has one of these values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class AtMost:
    """The integer field is at most `value`."""

    field: str
    value: int


@dataclass(frozen=True)
class Above:
    """The integer field is greater than `value`."""

    field: str
    value: int


Where: TypeAlias = tuple[Among | AtMost | Above, ...]
"""Conditions that must all hold; none means every point."""


class Hit(NamedTuple):
    """A child that a leg found. `score` is the cosine of the dense leg, the BM25 score of the other."""

    score: float
    edition: str
    passage_id: str
    parent_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Record:
    """A stored point, without its vectors."""

    point_id: str
    payload: Payload


class Store(Protocol):
    """A vector store."""

    kind: str

    async def create(self, collection: Collection, dimension: int) -> None:
        """Makes the collection, its payload indexes first; does nothing where it exists."""

    async def write(self, collection: Collection, points: Sequence[Point]) -> None:
        """Inserts or replaces points; when it returns they can be read."""

    async def secure(self, collection: Collection) -> None:
        """When it returns, what was written survives a power cut."""

    async def nearest(
        self, collection: Collection, query: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        """One leg, best first: `dense` for a vector, `bm25` for a sparse one. The filter is part of it."""

    async def fetch(self, collection: Collection, point_ids: Sequence[str]) -> list[Record]:
        """The points of these ids that exist, in any order."""

    async def find(self, collection: Collection, where: Where) -> list[Record]:
        """All points that meet the conditions, in any order."""

    async def count(self, collection: Collection, where: Where) -> int:
        """How many points meet the conditions, exactly."""

    async def delete(self, collection: Collection, where: Where) -> None:
        """Removes the points that meet the conditions."""

    async def set_valid_to(self, collection: Collection, where: Where, day: int) -> None:
        """Sets `valid_to` of the points that meet the conditions."""

    async def point_to(self, generation: str, topics: Sequence[str]) -> None:
        """Makes `generation` the current one, for all topics at once."""

    async def current(self) -> str:
        """The current generation; empty when there is none."""

    async def drop(self, collection: Collection) -> None:
        """Removes the collection; does nothing where there is none."""

    async def close(self) -> None:
        """Lets go of everything."""
