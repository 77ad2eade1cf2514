"""A passage of the knowledge base as the answer path sees it: its document, place, text and scores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """One version of one document. Dates are ISO 8601 days; `valid_to` is empty while no end is known."""

    document_id: str
    version: str
    title: str
    source_uri: str
    topic: str
    category: str
    tier: int
    language: str
    valid_from: str
    valid_to: str = ""


@dataclass(frozen=True)
class Scores:
    """Scores: cosine -1..1, BM25 0 and up, fused 0..2/61, rerank 0..1. None: not scored."""

    dense: float | None = None
    bm25: float | None = None
    fused: float | None = None
    rerank: float | None = None


@dataclass(frozen=True)
class MatchedChild:
    """A child that the search matched; its range counts code points of the document's Markdown."""

    child_id: str
    start: int
    end: int
    scores: Scores


@dataclass(frozen=True)
class Passage:
    """A parent. `text` is the slice [start, end) of the document's Markdown; `context` stands above it."""

    parent_id: str
    document: Document
    heading_path: tuple[str, ...]
    text: str
    context: str
    start: int
    end: int
    pages: tuple[int, ...]
    children: tuple[MatchedChild, ...]
    scores: Scores

    @property
    def readable(self) -> str:
        """The passage as it is read alone: title, headings, header rows, text, a line each."""
        above = (self.document.title, " > ".join(self.heading_path), self.context)
        return "\n".join(part for part in (*above, self.text) if part)


@dataclass(frozen=True)
class QueryVector:
    """A question's unit vector, and the embedder and index generation it belongs to."""

    values: tuple[float, ...]
    embedder: str
    weights_sha256: str
    generation: str
    truncated: bool = False


@dataclass(frozen=True)
class Found:
    """What the index gave: parents best first, the legs (dense, bm25) that were missing, and the snapshot."""

    passages: tuple[Passage, ...]
    missing_legs: tuple[str, ...] = ()
    generation: str = ""
    revision: int = 0
