"""Replies of vision models as Markdown of our dialect: marks of places gone, HTML tables as Markdown ones."""

import re

from bs4 import BeautifulSoup, Tag

from ingest.canonical import canonical
from ingest.html.tables import grid_of, header_rows, rows_of
from ingest.table import markdown_table

# <|ref|>title<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>, and the same as title[[…]] without the marks.
PLACED = re.compile(r"<\|ref\|>(\w+)<\|/ref\|><\|det\|>\[\[.*?\]\]<\|/det\|>[ \t]*\n?")
LABELS = r"title|sub_title|text|table|image|figure|header|footer|\w+_caption"
BARE = re.compile(rf"^(?:{LABELS})\[\[[\d, ]+\]\][ \t]*\n?", re.M)
RUNNING = re.compile(
    r"<\|ref\|>(?:header|footer|page_number|image|figure)<\|/ref\|>.*?(?=<\|ref\|>|\Z)", re.S
)
SPECIAL = re.compile(r"<\|[^|>]*\|>|<[｜|][^>]*[｜|]>")
TABLE = re.compile(r"<table\b.*?</table>", re.S | re.I)
FENCED = re.compile(r"\A\s*```(?:markdown|md)?\s*\n(.*)\n```\s*\Z", re.S)
CENTRED = re.compile(r"</?(?:center|br|div|p|sup|sub|b|i|u|strong|em)(?:\s+[\w-]+=[^>]*)?\s*/?>", re.I)


def markdown_in(reply: str) -> str:
    """The page's text, canonical. Running heads, feet and pictures go where the model names them."""
    fenced = FENCED.match(reply)
    text = RUNNING.sub("", fenced.group(1) if fenced else reply)
    text = SPECIAL.sub("", BARE.sub("", PLACED.sub("", text)))
    text = CENTRED.sub("", TABLE.sub(lambda found: f"\n\n{table_in(found.group())}\n\n", text))
    return re.sub(r"\n{3,}", "\n\n", canonical(text))


def table_in(html: str) -> str:
    """An HTML table as a Markdown one; what a cell spans is repeated in each place."""
    table = BeautifulSoup(html, "lxml").find("table")
    assert isinstance(table, Tag)
    rows = rows_of(table)
    grid = grid_of([[(cell, " ".join(cell.get_text(" ").split())) for cell in row] for row in rows])
    return markdown_table(grid, header_rows(rows)) if grid and grid[0] else ""
