"""What a search is asked and what it finds: values only."""

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.document import Document, Parent
from retrieval.fingerprint import QueryEmbedder
from retrieval.store import Hit


@dataclass(frozen=True)
class Question:
    """What to look for. Empty filters mean all; `labels` are the caller's, `day` counts from 1970-01-01."""

    text: str
    vector: Sequence[float]
    embedder: QueryEmbedder | None
    day: int
    labels: frozenset[str]
    generation: str = ""
    topics: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    children_per_topic: int = 15
    children: int = 90
    parents: int = 13


@dataclass(frozen=True)
class FoundChild:
    """A matched child. `dense` is a cosine, `bm25` a BM25 score, None where that leg did not find it."""

    hit: Hit
    dense: float | None
    bm25: float | None
    fused: float


@dataclass(frozen=True)
class FoundParent:
    """A parent, its document, and the matched children that led to it, best first."""

    parent: Parent
    document: Document
    children: tuple[FoundChild, ...]


@dataclass(frozen=True)
class Found:
    """The parents of the best children, best first, and how they were found."""

    parents: list[FoundParent]
    missing_legs: list[str]
    generation: str
    revision: int
