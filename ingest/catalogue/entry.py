"""What the catalogue says of one version, and how that becomes a row and a row becomes that."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

import sqlalchemy as sql

from ingest.catalogue.states import State
from ingest.document import Document, Metadata, PageRange, PageRecord, Removal
from ingest.passage import Parent

Row: TypeAlias = sql.Row[tuple[object, ...]]
Value: TypeAlias = object

SHORT = 16  # digits of a sha256 that are a version


@dataclass(frozen=True)
class Entry:
    """A version as the catalogue has it, without its text. `since` is microseconds since 1970.

    `metadata.valid_from` and `valid_to` are as given; `first_day` and `last_day` as the index was told, the
    latter the first day no longer in force.
    """

    number: int
    document_id: str
    version: str
    state: State
    since: int
    title: str
    language: str
    metadata: Metadata
    engine: str
    flags: tuple[str, ...]
    text_sha256: str
    raw_sha256: str
    previous: int | None
    approved_by: str
    first_day: date | None
    last_day: date | None

    @property
    def never_in_force(self) -> bool:
        """Whether it was replaced on its first day: no search finds it, and an index need not hold it."""
        return self.first_day is not None and self.last_day is not None and self.last_day <= self.first_day


@dataclass(frozen=True)
class ChunkRange:
    """A chunk as a range of the canonical text; `level` is parent, child, or noise: a child not searched."""

    level: str
    start: int
    end: int
    tokens: int


def entry_of(row: Row) -> Entry:
    """The entry in a row of `versions`."""
    return Entry(
        number=row.number,
        document_id=row.document_id,
        version=row.version,
        state=State(row.state),
        since=row.since,
        title=row.title,
        language=row.language,
        metadata=metadata_of(row),
        engine=row.engine,
        flags=tuple(row.flags),
        text_sha256=row.text_sha256,
        raw_sha256=row.raw_sha256,
        previous=row.previous,
        approved_by=row.approved_by,
        first_day=row.first_day,
        last_day=row.last_day,
    )


def metadata_of(row: Row) -> Metadata:
    return Metadata(
        document_id=row.document_id,
        title=row.title,
        topic=row.topic,
        category=row.category,
        tier=row.tier,
        language=row.language,
        source_uri=row.source_uri,
        licence=row.licence,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        access_labels=tuple(row.access_labels),
    )


def document_in(row: Row, text: str, raw: str) -> Document:
    """The document that a row and its texts hold."""
    pages = tuple(PageRange(*page) for page in row.pages)
    known = metadata_of(row)
    removals = tuple(Removal(*one) for one in row.removals)
    return Document(
        row.document_id,
        text,
        row.title,
        row.language,
        known,
        row.engine,
        pages,
        raw,
        flags=tuple(row.flags),
        removals=removals,
        records=tuple(
            PageRecord(page, engine, sure, tuple(why)) for page, engine, sure, why in row.page_records
        ),
    )


def said_of(document: Document) -> dict[str, Value]:
    """The columns that hold what is said about a document."""
    known = document.metadata
    return {
        "title": document.title,
        "topic": known.topic,
        "category": known.category,
        "tier": document.tier,
        "language": document.language,
        "source_uri": known.source_uri,
        "licence": known.licence,
        "valid_from": known.valid_from,
        "valid_to": known.valid_to,
        "access_labels": sorted(set(known.access_labels)),
    }


def said_sha256(said: dict[str, Value]) -> str:
    """The hash of what is said about a document: another one is another version to review."""
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def read_columns(document: Document, signature: bytes) -> dict[str, Value]:
    """The columns that hold what was read."""
    return {
        "version": document.version,
        "engine": document.engine,
        "pages": [[part.start, part.end, part.page] for part in document.pages],
        "removals": [[one.rule, one.start, one.end, one.text] for one in document.removals],
        "page_records": [[one.page, one.engine, one.confidence, one.reasons] for one in document.records],
        "text_sha256": document.sha256,
        "raw_sha256": sha256(document.raw),
        "signature": signature,
    }


UNREAD: dict[str, Value] = {
    "version": "",
    "engine": "",
    "pages": [],
    "flags": [],
    "removals": [],
    "page_records": [],
    "text_sha256": "",
    "raw_sha256": "",
    "signature": b"",
    "approved_by": "",
}
"""The same columns of a document that was not read yet."""


def ranges_of(parents: Sequence[Parent]) -> list[ChunkRange]:
    """Parents and children as ranges."""
    found = [ChunkRange("parent", one.start, one.end, one.tokens) for one in parents]
    for parent in parents:
        found += [
            ChunkRange("noise" if one.noise else "child", one.start, one.end, one.tokens)
            for one in parent.children
        ]
    return found


def sha256(text: str) -> str:
    """sha256 of a text in UTF-8, hex."""
    return hashlib.sha256(text.encode()).hexdigest()
