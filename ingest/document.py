"""What ingest knows about a document: its metadata, its parsed form and its canonical text."""

import hashlib
from dataclasses import dataclass
from datetime import date
from functools import cached_property

# Authority of a source by its category: 1 (regulation) to 4 (web).
TIERS = {"regulatory": 1, "methodological": 2, "textbook": 2, "article": 3, "web": 4}


@dataclass(frozen=True)
class Metadata:
    """What is known about a document before it is read; empty values are found out or left open."""

    document_id: str = ""
    title: str = ""
    topic: str = ""
    category: str = "web"
    tier: int = 0  # 1 to 4; 0 takes the category's
    language: str = ""  # ISO 639-1; empty lets the script decide
    source_uri: str = ""
    licence: str = ""
    valid_from: date | None = None  # first day in force; none means the day it is first published
    valid_to: date | None = None  # first day no longer in force; none while no end is known
    access_labels: tuple[str, ...] = ("public",)


@dataclass(frozen=True)
class PageRange:
    """Code points [start, end) of the Markdown that stand on one page, counted from 1."""

    start: int
    end: int
    page: int


@dataclass(frozen=True)
class PageRecord:
    """How one page, counted from 1, was read.

    `confidence` is the engine's own, 0 to 1; none for text that the file itself carries. `reasons` say why
    OCR read it and what went wrong.
    """

    page: int
    engine: str
    confidence: float | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Removal:
    """Code points [start, end) of the Markdown as it was parsed that cleaning took out, by which rule.

    `text` stands in their place: empty where something was only taken out, else what a repair made of it.
    """

    rule: str
    start: int
    end: int
    text: str = ""


@dataclass(frozen=True)
class Parsed:
    """A file as canonical Markdown, with what its reader found out about it.

    `pictures` is the share of the pages' area that pictures cover, 0 to 1. `flags` are a reviewer's to see.
    `removals` are first what the reader wants out, such as running heads; then all that cleaning took out.
    """

    markdown: str
    title: str
    engine: str
    pages: tuple[PageRange, ...] = ()
    language: str = ""
    pictures: float = 0.0
    flags: tuple[str, ...] = ()
    removals: tuple[Removal, ...] = ()
    records: tuple[PageRecord, ...] = ()


@dataclass(frozen=True)
class Document:
    """One version of one document: its canonical text and all that is said about it.

    `raw` is its Markdown before cleaning, to which `removals` refer. The rest is as in `Parsed`.
    """

    document_id: str
    text: str
    title: str
    language: str
    metadata: Metadata
    engine: str
    pages: tuple[PageRange, ...] = ()
    raw: str = ""
    pictures: float = 0.0
    flags: tuple[str, ...] = ()
    removals: tuple[Removal, ...] = ()
    records: tuple[PageRecord, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """sha256 of the canonical text in UTF-8, hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def version(self) -> str:
        """The first 16 hex digits of `sha256`."""
        return self.sha256[:16]

    @property
    def tier(self) -> int:
        return self.metadata.tier or TIERS[self.metadata.category]

    def pages_of(self, start: int, end: int) -> list[int]:
        """The pages on which code points [start, end) stand, ascending."""
        return sorted({part.page for part in self.pages if part.start < end and start < part.end})
