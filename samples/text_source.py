"""Reads the plain Markdown from which the sample DOCX and PDF files are made."""

import re
from dataclasses import dataclass

HEADING = re.compile(r"(#{1,4}) (.+)")
ITEM = re.compile(r"( *)(-|\d+\.) (.+)")
RULE = re.compile(r"\|[-| :]+\|")


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the document's title."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """One paragraph, written on one line of the source."""

    text: str


@dataclass(frozen=True)
class Item:
    """One item of a list; `mark` is its number with a dot, or a bullet."""

    mark: str
    text: str


@dataclass(frozen=True)
class Table:
    """A table; the first row is the header, all rows have the same length."""

    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Item | Table


def parse(source: str) -> list[Block]:
    """The blocks of `source` in order. Raises ValueError for a table whose rows differ in length."""
    blocks: list[Block] = []
    rows: list[tuple[str, ...]] = []
    for line in [*source.splitlines(), ""]:
        if line.startswith("|"):
            rows += [] if RULE.fullmatch(line) else [cells(line)]
            continue
        if rows:
            blocks.append(table(rows))
            rows = []
        if line.strip():
            blocks.append(block(line))
    return blocks


def cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip("|").split("|"))


def table(rows: list[tuple[str, ...]]) -> Table:
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"rows of different length in the table that starts with {rows[0]}")
    return Table(tuple(rows))


def block(line: str) -> Block:
    if heading := HEADING.fullmatch(line):
        return Heading(len(heading[1]), heading[2])
    if item := ITEM.fullmatch(line):
        return Item("•" if item[2] == "-" else item[2], item[3])
    return Paragraph(line)
