"""What is published: one version of a document, its parents and its children."""

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Document:
    """One version of one document. Days count from 1970-01-01; `valid_to` is the first day not in force."""

    document_id: str
    version: str
    title: str
    source_uri: str
    topic: str
    category: str
    tier: int
    language: str
    access_labels: tuple[str, ...]
    valid_from: int
    valid_to: int | None
    text_sha256: str
    approved_by: str

    def in_force(self, day: int) -> bool:
        """Whether it holds on that day."""
        return self.valid_from <= day and (self.valid_to is None or day < self.valid_to)


@dataclass(frozen=True)
class Parent:
    """A parent passage: a range of the document's Markdown, in code points, and what is known of it."""

    parent_id: str
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]
    context: str
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Child:
    """A child passage and its vector. `context` is what was put in front of `text` when it was embedded."""

    child_id: str
    parent_id: str
    start: int
    end: int
    text: str
    context: str
    vector: Sequence[float]


def edition(document: Document, parents: int, children: int) -> str:
    """A UUID, hex, that changes with anything said about the version: its text, title, labels, days.

    Points carry it. So the same version published with other metadata is written beside the old points, and
    the commit decides which of them can be found. Writing the same again changes nothing.
    """
    said = {**asdict(document), "parents": parents, "children": children}
    text = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def point_id(edition_id: str, passage_id: str) -> str:
    """The point of a passage: UUIDv5 of the passage's own id within its edition."""
    return str(uuid.uuid5(uuid.UUID(hex=edition_id), passage_id))
