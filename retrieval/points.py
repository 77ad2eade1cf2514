"""Passages as points of the store, and back: which payload field holds what."""

from radrag.errors import Internal
from retrieval.bm25 import SparseVector
from retrieval.document import Child, Document, Parent, point_id
from retrieval.store import FOREVER, Among, Payload, Point, Record, Where

PARENT, CHILD = "parent", "child"


def of_edition(edition: str, level: str = "") -> Where:
    """The points of an edition, of one level if given."""
    of_level = (Among("level", (level,)),) if level else ()
    return (Among("edition", (edition,)), *of_level)


def parent_point(document: Document, edition: str, parent: Parent) -> Point:
    """A parent: text and what is shown with it, no vectors."""
    payload: Payload = {
        **_filterable(document, edition),
        "level": PARENT,
        "passage_id": parent.parent_id,
        "start": parent.start,
        "end": parent.end,
        "text": parent.text,
        "heading_path": list(parent.heading_path),
        "context": parent.context,
        "pages": list(parent.pages),
    }
    return Point(point_id(edition, parent.parent_id), payload)


def child_point(document: Document, edition: str, child: Child, words: SparseVector) -> Point:
    """A child: both vectors and its range; its text is a slice of the parent's."""
    payload: Payload = {
        **_filterable(document, edition),
        "level": CHILD,
        "passage_id": child.child_id,
        "parent_id": child.parent_id,
        "start": child.start,
        "end": child.end,
    }
    return Point(point_id(edition, child.child_id), payload, child.vector, words)


def parent_of(record: Record) -> Parent:
    """The parent a point holds."""
    payload = record.payload
    start, end = payload["start"], payload["end"]
    headings, pages = payload["heading_path"], payload["pages"]
    if not (isinstance(start, int) and isinstance(end, int)):
        raise Internal("a parent without a range")
    if not (isinstance(headings, list) and isinstance(pages, list)):
        raise Internal("a parent without its place")
    return Parent(
        parent_id=str(payload["passage_id"]),
        start=start,
        end=end,
        text=str(payload["text"]),
        heading_path=tuple(str(heading) for heading in headings),
        context=str(payload["context"]),
        pages=tuple(int(page) for page in pages),
    )


def _filterable(document: Document, edition: str) -> dict[str, str | int | list[str] | list[int]]:
    return {
        "edition": edition,
        "document_id": document.document_id,
        "language": document.language,
        "category": document.category,
        "access_labels": list(document.access_labels),
        "valid_from": document.valid_from,
        "valid_to": FOREVER if document.valid_to is None else document.valid_to,
    }
