"""A data set as the product cut it: parents, their children, and which document each stands in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evaluation.datasets import Span


@dataclass(frozen=True)
class Child:
    """A child: code points [start, end) of its document, and what is put in front when it is embedded."""

    id: str
    document: str
    start: int
    end: int
    text: str
    context: str = ""


@dataclass(frozen=True)
class Parent:
    """A parent with its children in their order."""

    id: str
    document: str
    start: int
    end: int
    text: str
    children: tuple[Child, ...]
    context: str = ""


@dataclass(frozen=True)
class Hit:
    """A child found by one leg, with that leg's own score (cosine, or BM25)."""

    child: str
    score: float


@dataclass
class Corpus:
    """Every passage by its id."""

    parents: dict[str, Parent] = field(default_factory=dict)
    children: dict[str, Child] = field(default_factory=dict)
    parent_of: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, parents: Iterable[Parent]) -> "Corpus":
        """The corpus of these parents."""
        corpus = cls()
        for parent in parents:
            corpus.parents[parent.id] = parent
            for child in parent.children:
                corpus.children[child.id] = child
                corpus.parent_of[child.id] = parent.id
        return corpus

    def parents_of(self, children: Sequence[str]) -> list[str]:
        """The parents of these children, each once, in the order of its first child."""
        return list(dict.fromkeys(self.parent_of[child] for child in children))

    def documents_of(self, parents: Sequence[str]) -> list[str]:
        """The documents of these parents, each once, in the order of its first parent."""
        return list(dict.fromkeys(self.parents[parent].document for parent in parents))

    def child_place(self, child: str) -> Span:
        """Where a child stands."""
        one = self.children[child]
        return Span(one.document, one.start, one.end)

    def parent_place(self, parent: str) -> Span:
        """Where a parent stands."""
        one = self.parents[parent]
        return Span(one.document, one.start, one.end)
