"""Replies of vision models as Markdown of our dialect: marks of places gone, HTML tables as Markdown ones."""

import re

from bs4 import BeautifulSoup, Tag

from ingest.canonical import canonical
from ingest.html.tables import grid_of, header_rows, rows_of
from ingest.table import markdown_table

# <|ref|>title<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>, and the same as title[[…]] without the marks.
PLACED = re.compile(r"<\|ref\|>(\w+)<\|/ref\|><\|det\|>\[\[[^<\n]*\]\]<\|/det\|>[ \t]*\n?")
LABELS = r"title|sub_title|text|table|image|figure|header|footer|\w+_caption"
BARE = re.compile(rf"^(?:{LABELS})\[\[[\d, ]+\]\][ \t]*\n?", re.M)
RUNNING = re.compile(
    r"<\|ref\|>(?:header|footer|page_number|image|figure)<\|/ref\|>.*?(?=<\|ref\|>|\Z)", re.S
)
SPECIAL = re.compile(r"<\|[^|>]*\|>|<[｜|][^<>]*[｜|]>")
TABLE = re.compile(r"<table\b.*?</table>", re.S | re.I)
TABLE_END = re.compile("</table>", re.I)
FENCES = {"```", "```markdown", "```md"}
CENTRED = re.compile(r"</?(?:center|br|div|p|sup|sub|b|i|u|strong|em)(?:\s++[\w-]++=[^<>]*+|\s*+/?)>", re.I)


def markdown_in(reply: str) -> str:
    """The page's text, canonical. Running heads, feet and pictures go where the model names them."""
    text = RUNNING.sub("", unfenced(reply))
    text = SPECIAL.sub("", BARE.sub("", PLACED.sub("", text)))
    text = CENTRED.sub("", with_tables(text))
    return re.sub(r"\n{3,}", "\n\n", canonical(text))


def unfenced(reply: str) -> str:
    """What stands in the fence that is the whole reply; the reply itself where there is none."""
    opened, _, rest = reply.strip().partition("\n")
    whole = opened.rstrip() in FENCES and rest.endswith("\n```")
    return rest.removesuffix("\n```") if whole else reply


def with_tables(text: str) -> str:
    """Its HTML tables written anew. Behind the last that ends none is looked for: each would look in vain."""
    end = max((found.end() for found in TABLE_END.finditer(text)), default=0)
    return TABLE.sub(lambda found: f"\n\n{table_in(found.group())}\n\n", text[:end]) + text[end:]


def table_in(html: str) -> str:
    """An HTML table as a Markdown one; what a cell spans is repeated in each place."""
    table = BeautifulSoup(html, "lxml").find("table")
    if not isinstance(table, Tag):  # of a name that only begins so
        return html
    rows = rows_of(table)
    grid = grid_of([[(cell, " ".join(cell.get_text(" ").split())) for cell in row] for row in rows])
    return markdown_table(grid, header_rows(rows)) if grid and grid[0] else ""
