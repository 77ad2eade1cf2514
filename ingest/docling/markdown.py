"""Writes a DoclingDocument as Markdown, block by block, each with the page it stands on.

Docling's own export escapes letters and knows no offsets; ours is the one dialect that all formats share.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from docling_core.types.doc.common.content_layer import ContentLayer
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.code import CodeItem
from docling_core.types.doc.items.group import InlineGroup, ListGroup
from docling_core.types.doc.items.node import DocItem, NodeItem
from docling_core.types.doc.items.table.table import TableItem
from docling_core.types.doc.items.table.table_data import RichTableCell, TableCell
from docling_core.types.doc.items.text import SectionHeaderItem, TextItem, TitleItem
from docling_core.types.doc.labels import DocItemLabel

from ingest.canonical import canonical
from ingest.docling.headings import letters
from ingest.docling.lists import ListLine, inside, is_listed, list_lines, strays
from ingest.docling.runs import line_text, run_text
from ingest.table import Grid, markdown_table

# Blocks that no sentence runs through from one to the next.
NOT_PLAIN = re.compile(r"#|\||```|- |\d+\. ")
CHAPTER = re.compile(r"#+ (Chapter|Part|Appendix|Глава|Часть|Раздел|Приложение)\s+[\dA-ZА-ЯIVX]+[.:]?", re.I)
# What the layout found to be no text of the author's, by the rule under which cleaning takes it out.
APPARATUS = {
    DocItemLabel.PAGE_HEADER: "running_head",
    DocItemLabel.PAGE_FOOTER: "running_foot",
    DocItemLabel.DOCUMENT_INDEX: "contents",
}
DEEPEST = 6


@dataclass(frozen=True)
class Piece:
    """A block of Markdown, the page it stands on (0 without pages) and what joins it to the block before.

    `rule` says that cleaning will take it out; such blocks end up in `front` of the next one that stays. The
    last block has no text when only such blocks follow.
    """

    text: str
    page: int
    joint: str = "\n\n"
    rule: str = ""
    front: tuple["Piece", ...] = ()


def pieces_of(
    documents: Sequence[DoclingDocument],
    levels: Mapping[tuple[int, str], int] | None = None,
    whole_pages: Mapping[int, str] | None = None,
) -> list[Piece]:
    """The blocks in reading order, canonical, none empty; `levels` of headings by page and letters.

    The documents are windows of one; `whole_pages` are pages of it that came as Markdown.
    """
    titled = any(isinstance(item, TitleItem) for document in documents for item in document.texts)
    writers = [Writer(document, levels or {}, shift=int(titled)) for document in documents]
    pieces = [piece for writer in writers for piece in writer.below(writer.body)]
    clean = [replace(piece, text=canonical(piece.text).strip("\n")) for piece in pieces]
    kept = with_pages([piece for piece in clean if piece.text.strip()], whole_pages or {})
    return rejoined(with_long_tables(with_chapters(fronted(kept))))


def fronted(pieces: list[Piece]) -> list[Piece]:
    """The blocks that stay, each with those in front of it that go."""
    found: list[Piece] = []
    front: list[Piece] = []
    for piece in pieces:
        if piece.rule:
            front.append(piece)
        else:
            found.append(replace(piece, front=tuple(front)))
            front = []
    return [*found, Piece("", front[-1].page, front=tuple(front))] if front else found


def with_pages(pieces: list[Piece], pages: Mapping[int, str]) -> list[Piece]:
    """The blocks and those of pages that came whole, page by page."""
    blocks = [Piece(block, page) for page, text in pages.items() for block in text.strip("\n").split("\n\n")]
    return sorted([*pieces, *blocks], key=lambda piece: piece.page) if blocks else pieces


class Writer:
    """Walks one document. `shift` is by how much its headings stand below its title."""

    def __init__(self, document: DoclingDocument, levels: Mapping[tuple[int, str], int], shift: int) -> None:
        self._document = document
        self._levels = levels
        self._shift = shift
        self.body = document.body

    def below(self, node: NodeItem) -> Iterator[Piece]:
        for reference in node.children:
            yield from self.written(reference.resolve(self._document))

    def written(self, node: NodeItem) -> Iterator[Piece]:
        if rule := APPARATUS.get(getattr(node, "label", DocItemLabel.TEXT)):
            yield Piece(apparatus_text(node), page_of(node, self._document), rule=rule)
        elif node.content_layer != ContentLayer.BODY:
            return
        elif isinstance(node, ListGroup):
            yield from self.listed(node)
        elif isinstance(node, InlineGroup):
            yield Piece(escaped(run_text(node, self._document)), page_of(node, self._document))
        elif isinstance(node, TableItem):
            yield from self.table(node)
        else:
            yield Piece(self.block(node), page_of(node, self._document))
            yield from self.below(node)

    def listed(self, group: ListGroup) -> Iterator[Piece]:
        """Its items as lists; whatever else stands among or in them keeps its place, or follows."""
        for items, run in groupby(inside(group, self._document), is_listed):
            nodes = list(run)
            if items:
                yield from map(piece_of, list_lines(nodes, self._document))
                nodes = list(strays(nodes, self._document))
            for node in nodes:
                yield from self.written(node)

    def block(self, node: NodeItem) -> str:
        if isinstance(node, TitleItem):
            return f"# {line_text(node.text)}"
        if isinstance(node, SectionHeaderItem):
            known = self._levels.get((page_of(node, self._document), letters(node.text)), node.level)
            return f"{'#' * min(known + self._shift, DEEPEST)} {line_text(node.text)}"
        if isinstance(node, CodeItem):
            return f"```\n{node.text}\n```"
        return escaped(line_text(node.text or node.orig)) if isinstance(node, TextItem) else ""

    def table(self, table: TableItem) -> Iterator[Piece]:
        """The caption above, spans expanded; a table of one column is text in a frame."""
        page = page_of(table, self._document)
        yield Piece(escaped(line_text(table.caption_text(self._document))), page)
        grid: Grid = [[line_text(cell_text(cell, self._document)) for cell in row] for row in table.data.grid]
        if table.data.num_cols < 2 or table.data.num_rows < 2:
            yield from (Piece(escaped(cell), page) for row in grid for cell in dict.fromkeys(row))
        else:
            yield Piece(markdown_table(grid, header_rows(table)), page)


def cell_text(cell: TableCell, document: DoclingDocument) -> str:
    """A cell's text; a table inside it on the same line, cell by cell."""
    if not isinstance(cell, RichTableCell):
        return cell.text
    held = list(texts_in(cell.ref.resolve(document), document))
    return " ".join(held) if any(isinstance(one, Inner) for one in held) else cell.text


class Inner(str):
    """The text of a table that stands in a cell of another."""

    __slots__ = ()


def texts_in(node: NodeItem, document: DoclingDocument) -> Iterator[str]:
    if isinstance(node, TableItem):
        yield Inner(" ".join(cell_text(cell, document) for row in node.data.grid for cell in row))
    elif isinstance(node, TextItem):
        yield node.text
    for child in inside(node, document) if not isinstance(node, TableItem) else ():
        yield from texts_in(child, document)


def apparatus_text(node: NodeItem) -> str:
    """Its lines; contents come as a table of one column."""
    if isinstance(node, TableItem):
        return "\n".join(line_text(cell.text) for cell in node.data.table_cells)
    return escaped(line_text(node.text)) if isinstance(node, TextItem) else ""


def header_rows(table: TableItem) -> int:
    """Rows on top in which every cell is marked as a head; at least one, never all."""
    heads = 0
    for row in table.data.grid[:-1]:
        if not all(cell.column_header for cell in row):
            break
        heads += 1
    return max(1, heads)


def piece_of(line: ListLine) -> Piece:
    return Piece(line.text, line.page, "\n" if line.goes_on else "\n\n")


def with_chapters(pieces: list[Piece]) -> list[Piece]:
    """A line "Chapter 3" and the title below it are one heading."""
    found: list[Piece] = []
    for piece in pieces:
        if found and CHAPTER.fullmatch(found[-1].text) and piece.text.startswith("#"):
            text = f"{found[-1].text} {piece.text.lstrip('# ')}"
            found[-1] = replace(found[-1], text=text, front=found[-1].front + piece.front)
        else:
            found.append(piece)
    return found


def with_long_tables(pieces: list[Piece]) -> list[Piece]:
    """A table that goes on on the next page under the same header rows is one table."""
    found: list[Piece] = []
    for before, piece in zip([None, *pieces], pieces, strict=False):
        head = "\n".join(piece.text.split("\n")[:2]) + "\n"
        table = before is not None and before.text.startswith("|") and piece.text.startswith("|")
        if before is not None and table and piece.page == before.page + 1 and before.text.startswith(head):
            found.append(replace(piece, text=piece.text.removeprefix(head), joint="\n"))
        else:
            found.append(piece)
    return found


def rejoined(pieces: list[Piece]) -> list[Piece]:
    """Sentences that a page or column parted: a line ends without a stop, the next begins in lower case."""
    return [
        replace(piece, joint=" ") if before and goes_on(before, piece) else piece
        for before, piece in zip([None, *pieces], pieces, strict=False)
    ]


def goes_on(before: Piece, piece: Piece) -> bool:
    plain = not NOT_PLAIN.match(before.text) and not NOT_PLAIN.match(piece.text)
    return plain and piece.text[:1].islower() and (before.text[-1].isalnum() or before.text[-1] in ",-–—(")


def page_of(node: NodeItem, document: DoclingDocument) -> int:
    if isinstance(node, DocItem) and node.prov:
        return node.prov[0].page_no
    first = node.children[0].resolve(document) if node.children else None
    return page_of(first, document) if first is not None else 0


def escaped(text: str) -> str:
    """A paragraph that begins like a heading or a quotation is still a paragraph."""
    return re.sub(r"^(#{1,6} |>)", r"\\\1", text)
