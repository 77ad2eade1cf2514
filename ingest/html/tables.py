"""Writes an HTML table as a Markdown table: spans are expanded, so that every row can be read alone."""

import re

from bs4 import Tag

from ingest.table import Grid, markdown_table

LARGEST_SPAN = 100
MOST_PLACES = 300_000  # of a table; spans can make a small page of it that fills any memory
MOST_WRITTEN = 3_000_000  # characters of a table, each cell's in all places it spans
LARGEST_CELL = 3000  # characters; a cell beyond is a page's column, not a value
Cell = tuple[Tag, str]  # and its text


def rows_of(table: Tag) -> list[list[Tag]]:
    """The table's own rows of cells, without those of tables nested in it."""
    rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
    return [row.find_all(["td", "th"], recursive=False) for row in rows]


def table_of(table: Tag, rows: list[list[Cell]]) -> str:
    """The Markdown table; empty when the table has one row or column, or only lays out the page."""
    grid = grid_of(rows)
    width = len(grid[0]) if grid else 0
    if width < 2 or len(grid) < 2 or table.get("role") == "presentation":
        return ""
    if any(len(value) > LARGEST_CELL for row in grid for value in row):
        return ""
    return markdown_table(grid, header_rows([[cell for cell, _ in row] for row in rows]))


def grid_of(rows: list[list[Cell]]) -> Grid:
    """Every cell's text in all the places it spans, as a rectangle; empty when that would be too large."""
    places: dict[tuple[int, int], str] = {}
    written = 0
    for y, row in enumerate(rows):
        x = 0
        for cell, value in row:
            while (y, x) in places:
                x += 1
            across = span(cell, "colspan")
            down = min(span(cell, "rowspan"), len(rows) - y)
            places.update({(y + below, x + step): value for below in range(down) for step in range(across)})
            x += across
            written += len(value) * across * down
            if len(places) > MOST_PLACES or written > MOST_WRITTEN:
                return []
    width = 1 + max((x for _, x in places), default=-1)
    if width * len(rows) > MOST_PLACES:
        return []
    return [[places.get((y, x), "") for x in range(width)] for y in range(len(rows))]


def span(cell: Tag, name: str) -> int:
    number = re.match(r"\d+", str(cell.get(name, "1")))
    return min(int(number.group()), LARGEST_SPAN) or 1 if number else 1


def header_rows(rows: list[list[Tag]]) -> int:
    """How many rows on top are heads: those of <thead>, else those of <th> alone; at least one."""
    heads = 0
    for row in rows[:-1]:
        if not row or not (row[0].find_parent("thead") or all(cell.name == "th" for cell in row)):
            break
        heads += 1
    return max(1, heads)
