"""Writes lists: nested as the file says, or as far as items stand indented on the page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.group import InlineGroup, ListGroup
from docling_core.types.doc.items.node import NodeItem
from docling_core.types.doc.items.text import ListItem, TextItem

from ingest.docling.runs import line_text, run_text

STEP = 6.0  # points; less is no indentation
MARK = re.compile(r"\s*(?:[•·∙●○◦▪▫■□‣⁃➢➤✓∞►❑❖◆*+\u2013\u2014-]|(\(?\w{1,3}[.)]))\s+")


@dataclass(frozen=True)
class ListLine:
    """An item's line in Markdown, its page, and whether another of its list stands before it."""

    text: str
    page: int
    goes_on: bool


@dataclass(frozen=True)
class Entry:
    """An item: how deep it stands, how far from the left (points; 0 unknown), its mark and its text."""

    depth: int
    left: float
    mark: str
    text: str
    page: int


def is_listed(node: NodeItem) -> bool:
    return isinstance(node, ListItem | ListGroup)


def inside(node: NodeItem, document: DoclingDocument) -> list[NodeItem]:
    return [reference.resolve(document) for reference in node.children]


def list_lines(nodes: Iterable[NodeItem], document: DoclingDocument) -> Iterator[ListLine]:
    """The lines of a list's items, nested ones indented under what they belong to."""
    marks: list[str] = []  # of the items that the next one may stand under
    for number, entry in enumerate(by_indentation(list(entries(nodes, document, 0)))):
        marks = [*marks[: entry.depth], entry.mark]
        indent = " " * sum(len(mark) + 1 for mark in marks[:-1])
        yield ListLine(f"{indent}{entry.mark} {entry.text}", entry.page, goes_on=number > 0)


def entries(nodes: Iterable[NodeItem], document: DoclingDocument, depth: int) -> Iterator[Entry]:
    for node in nodes:
        if isinstance(node, ListItem):
            yield entry_of(node, document, depth)
            yield from entries(inside(node, document), document, depth + 1)
        elif isinstance(node, ListGroup):
            yield from entries(inside(node, document), document, depth)


def strays(nodes: Iterable[NodeItem], document: DoclingDocument) -> Iterator[NodeItem]:
    """What stands inside items and is in no line of theirs, as tables and paragraphs of their own."""
    for node in nodes:
        spelt = isinstance(node, ListItem) and not line_text(node.text)
        for child in inside(node, document):
            if is_listed(child):
                yield from strays([child], document)
            elif not (spelt and is_spelt(child)):
                yield child


def is_spelt(node: NodeItem) -> bool:
    """Whether an item without a text of its own is spelt by it."""
    return isinstance(node, InlineGroup) or (isinstance(node, TextItem) and not node.children)


def entry_of(item: ListItem, document: DoclingDocument, depth: int) -> Entry:
    text = line_text(item.text) or inline_text(item, document)
    box = item.prov[0].bbox.l if item.prov else 0.0
    page = item.prov[0].page_no if item.prov else 0
    mark, rest = marked(text, item)
    return Entry(depth, box, mark, rest, page)


def inline_text(item: ListItem, document: DoclingDocument) -> str:
    inner = inside(item, document)
    parts = [run_text(node, document) for node in inner if not is_listed(node)]
    parts += [line_text(node.text) for node in inner if isinstance(node, TextItem) and not node.children]
    return " ".join(part for part in parts if part)


def marked(text: str, item: ListItem) -> tuple[str, str]:
    """The Markdown mark and the text: numbers stay numbers, "(а)" and the like stay in the text."""
    written = MARK.match(text)
    label = (written.group(1) if written else None) or (item.marker if item.enumerated else "")
    rest = text[written.end() :] if written else text
    if re.fullmatch(r"\d{1,9}\.", label):
        return label, rest
    return "-", f"{label} {rest}" if re.search(r"\w", label) else rest


def by_indentation(items: list[Entry]) -> list[Entry]:
    """On a page only the left edge tells how deep an item stands."""
    if any(entry.depth for entry in items) or not all(entry.left for entry in items):
        return items
    edges: list[float] = []
    nested = []
    for entry in items:
        while edges and entry.left < edges[-1] - STEP:
            edges.pop()
        if not edges or entry.left > edges[-1] + STEP:
            edges.append(entry.left)
        nested.append(replace(entry, depth=len(edges) - 1))
    return nested
