"""Finds running heads, running feet and page numbers, so that they do not end up between two sentences."""

import re
from dataclasses import dataclass

from ingest.docling.survey import MARGIN, Running, Survey, edge_row, masked, row_text
from ingest.docling.textline import TextLine

PAGE_NUMBER = re.compile(
    r"[-–—\s]*(\d{1,4}|[ivxlc]{1,6}|(Page|Стр\.?|Страница)\s*\d+(\s*(of|из|/)\s*\d+)?)[-–—\s]*", re.I
)
MOST_ROWS = 2  # of a running head or foot
LONGEST = 160  # characters


@dataclass(frozen=True)
class Furniture:
    """A page's lines, sorted into what runs and what is its own."""

    heads: list[TextLine]
    feet: list[TextLine]
    body: list[TextLine]


@dataclass(frozen=True)
class Margin:
    """One end of a page of a surveyed document."""

    top: bool
    height: float
    survey: Survey

    @property
    def running(self) -> Running:
        return self.survey.heads if self.top else self.survey.feet

    def holds(self, line: TextLine) -> bool:
        limit = MARGIN * self.height
        return line.bottom < limit if self.top else line.top > self.height - limit


def furniture_of(lines: list[TextLine], survey: Survey, height: float) -> Furniture:
    heads, rest = taken(lines, Margin(True, height, survey))
    feet, body = taken(rest, Margin(False, height, survey))
    return Furniture(heads, feet, body)


def taken(lines: list[TextLine], margin: Margin) -> tuple[list[TextLine], list[TextLine]]:
    """The outermost rows that run, and the lines that are left."""
    found: list[TextLine] = []
    for _ in range(MOST_ROWS):
        row = edge_row(lines, margin.top)
        taken_out = set(map(id, row))
        rest = [line for line in lines if id(line) not in taken_out]
        if not row or not runs(row, gap_between(row, rest, margin.top), margin):
            break
        found, lines = [*found, *row], rest
    return found, lines


def runs(row: list[TextLine], gap: float, margin: Margin) -> bool:
    text = row_text(row)
    if not margin.holds(row[0]) or gap <= max(1.5 * margin.survey.leading, 0.5 * row[0].height):
        return False
    known = masked(text) in margin.running.texts or PAGE_NUMBER.fullmatch(text) is not None
    return known or looks_running(row, gap, margin)


def looks_running(row: list[TextLine], gap: float, margin: Margin) -> bool:
    """At a height where others run: small or with a page number, and well apart from the text."""
    at = round(row[0].top if margin.top else row[0].bottom)
    numbered = any(PAGE_NUMBER.fullmatch(line.text) for line in row)
    small = row[0].height < 1.02 * margin.survey.size and not row[0].bold
    apart = gap > max(2.2 * margin.survey.leading, 0.9 * row[0].height)
    return at in margin.running.heights and apart and (numbered or small) and len(row_text(row)) < LONGEST


def gap_between(row: list[TextLine], rest: list[TextLine], top: bool) -> float:
    if not rest:
        return float("inf")
    if top:
        return min(line.top for line in rest) - max(line.bottom for line in row)
    return min(line.top for line in row) - max(line.bottom for line in rest)
