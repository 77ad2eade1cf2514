"""Writes the blocks of an element as Markdown: paragraphs, headings, lists, tables, code, quotations."""

import re

from bs4.element import PageElement, Tag

from ingest.html.inline import inline_of, line_of, paragraph
from ingest.html.tables import rows_of, table_of

BLOCKS = {
    *(
        "html",
        "body",
        "div",
        "section",
        "article",
        "main",
        "header",
        "hgroup",
        "address",
        "center",
        "fieldset",
    ),
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "blockquote", "figure", "figcaption"),
    *("ul", "ol", "menu", "li", "dl", "dt", "dd", "details", "summary"),
    *("table", "thead", "tbody", "tr", "td", "th", "caption"),
}


def blocks_of(node: Tag) -> list[str]:
    """The Markdown blocks of an element, in order, none of them empty."""
    found: list[str] = []
    loose = ""
    for child in node.children:
        if not is_block(child):
            loose += inline_of(child)
            continue
        found += [paragraph(loose), *block_of(child)]
        loose = ""
    return [block for block in [*found, paragraph(loose)] if block.strip()]


def is_block(node: PageElement) -> bool:
    return isinstance(node, Tag) and (node.name in BLOCKS or node.find(list(BLOCKS)) is not None)


def block_of(node: PageElement) -> list[str]:
    assert isinstance(node, Tag)
    if re.fullmatch("h[1-6]", node.name):
        return [f"{'#' * int(node.name[1])} {text}"] if (text := line_of(node)) else []
    writers = {
        "table": table_blocks,
        "ul": list_blocks,
        "ol": list_blocks,
        "menu": list_blocks,
        "dl": definition_blocks,
        "pre": code_blocks,
        "blockquote": quotation_blocks,
    }
    return writers.get(node.name, blocks_of)(node)


def code_blocks(node: Tag) -> list[str]:
    text = node.get_text().replace("\r\n", "\n").strip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return [f"{fence}\n{text}\n{fence}"] if text.strip() else []


def quotation_blocks(node: Tag) -> list[str]:
    inner = "\n\n".join(blocks_of(node))
    return ["\n".join(f"> {line}".rstrip() for line in inner.split("\n"))] if inner else []


def list_blocks(node: Tag) -> list[str]:
    number = int(start) if (start := str(node.get("start", "1"))).isdigit() else 1
    items: list[str] = []
    for child in node.children:
        if isinstance(child, Tag) and (blocks := nested_blocks(child)):
            mark = f"{number + len(items)}." if node.name == "ol" else "-"
            items.append(item(mark, blocks))
    return ["\n".join(items)] if items else []


def nested_blocks(node: Tag) -> list[str]:
    """An item's blocks. Some pages put a list straight into a list, outside any item."""
    return list_blocks(node) if node.name in {"ul", "ol"} else blocks_of(node)


def definition_blocks(node: Tag) -> list[str]:
    """Terms as items, what they mean below them."""
    items: list[list[str]] = []
    for child in node.find_all(["dt", "dd"]):
        if child.find_parent("dl") is not node:
            continue  # of a list nested in this one: it is written where it stands
        if child.name == "dt" or not items:
            items.append([])
        items[-1] += blocks_of(child)
    return ["\n".join(item("-", blocks) for blocks in items if blocks)]


def item(mark: str, blocks: list[str]) -> str:
    indent = "\n" + " " * (len(mark) + 1)
    return f"{mark} " + indent.join("\n".join(blocks).split("\n"))


def table_blocks(node: Tag) -> list[str]:
    """A table, or the blocks of its cells where it only lays out the page."""
    # A cell is written once for both: tables nested in tables would double the work with each level.
    rows = [[(cell, blocks_of(cell)) for cell in row] for row in rows_of(node)]
    if written := table_of(node, [[(cell, on_a_line(blocks)) for cell, blocks in row] for row in rows]):
        caption = node.find("caption")
        return [line_of(caption), written] if isinstance(caption, Tag) else [written]
    return [block for row in rows for _, blocks in row for block in blocks]


def on_a_line(blocks: list[str]) -> str:
    """A cell on one line; what is nested in it follows in order."""
    text = " ".join(re.sub(r"(?m)^[^\S\n]*(- |\||> )", " ", block) for block in blocks)
    return re.sub(r"\s+", " ", text).strip()
