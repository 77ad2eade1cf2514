"""What became of a folder's files, format by format: what was found, what was refused, how long it took."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from evaluation.report import Table

HEADING = re.compile(r"^#{1,6} \S", re.M)
TABLE = re.compile(r"^\|(?: ?-{3,} ?\|)+$", re.M)
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)


@dataclass(frozen=True)
class File:
    """One file: its format, what was found in it, and why it was refused; "" when it was read."""

    name: str
    format: str
    pages: int = 0
    headings: int = 0
    tables: int = 0
    ocr_pages: int = 0
    flagged: bool = False
    seconds: float = 0.0
    refused: str = ""


@dataclass(frozen=True)
class Format:
    """The files of one format added up; `documents` are those that were read."""

    format: str
    documents: int
    pages: int
    headings: int
    tables: int
    ocr_pages: int
    flagged: int
    refused: int
    seconds: float


def headings_in(markdown: str) -> int:
    """Headings of Markdown, not counting code."""
    return len(HEADING.findall(FENCED.sub("", markdown)))


def tables_in(markdown: str) -> int:
    """Tables of Markdown, not counting code."""
    return len(TABLE.findall(FENCED.sub("", markdown)))


def by_format(files: Sequence[File]) -> list[Format]:
    """One row for each format, the most frequent first."""
    names = sorted({one.format for one in files}, key=lambda name: (-count(files, name), name))
    return [added([one for one in files if one.format == name]) for name in names]


def count(files: Sequence[File], name: str) -> int:
    return sum(one.format == name for one in files)


def added(files: Sequence[File]) -> Format:
    read = [one for one in files if not one.refused]
    return Format(
        format=files[0].format,
        documents=len(read),
        pages=sum(one.pages for one in read),
        headings=sum(one.headings for one in read),
        tables=sum(one.tables for one in read),
        ocr_pages=sum(one.ocr_pages for one in read),
        flagged=sum(one.flagged for one in read),
        refused=len(files) - len(read),
        seconds=round(sum(one.seconds for one in files), 1),
    )


def table(formats: Sequence[Format]) -> Table:
    """Headings and rows of text."""
    names = [one.name for one in fields(Format)]
    return [name.replace("_", " ") for name in names], [
        [str(getattr(one, name)) for name in names] for one in formats
    ]
