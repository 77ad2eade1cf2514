"""The pieces of a document: parents, which are read, and their children, which are searched."""

import uuid
from dataclasses import dataclass

# Point ids are UUIDv5 in this namespace, so that writing a version twice changes nothing.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://radrag.invalid/passages")


@dataclass(frozen=True)
class Child:
    """Code points [start, end) of the document, all inside one parent."""

    start: int
    end: int
    text: str
    tokens: int
    context: str  # title, heading path, header rows: what is put in front when it is searched
    noise: str = ""  # why it is kept out of the search; empty for text


@dataclass(frozen=True)
class Parent:
    """Code points [start, end) of the document; `context` is a split table's header rows."""

    start: int
    end: int
    text: str
    tokens: int
    heading_path: tuple[str, ...]
    context: str
    children: tuple[Child, ...]

    @property
    def searched(self) -> tuple[Child, ...]:
        """The children without the noisy ones, which stay in the document alone."""
        return tuple(child for child in self.children if not child.noise)


def passage_id(document_id: str, version: str, level: str, start: int, end: int) -> str:
    """The stable id of a passage: level is parent or child."""
    return str(uuid.uuid5(NAMESPACE, f"{document_id}\n{version}\n{level}\n{start}\n{end}"))
