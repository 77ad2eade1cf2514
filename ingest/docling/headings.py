"""Gives headings their levels: larger type stands above smaller, bold above plain, 1 above 1.1."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ingest.docling.textline import TextLine

NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,3})*)\.?\s")
SAME_SIZE = 0.06  # relative difference up to which two heights are one size
DEEPEST = 6
FEW = 0.02  # share of the headings up to which those of a style are strays


@dataclass(frozen=True)
class Heading:
    """A heading as it looks: its page, its text without blanks, the height of its type in points."""

    page: int
    text: str
    height: float
    bold: bool

    @property
    def depth(self) -> int:
        """How many numbers it has: 2 for "1.1 Doses"; 0 without."""
        found = NUMBER.match(self.text)
        return found.group(1).count(".") + 1 if found else 0


def heading_of(page: int, lines: Sequence[TextLine]) -> Heading:
    text = " ".join(line.text for line in lines)
    return Heading(page, text, median(line.height for line in lines), all(line.bold for line in lines))


def levels_of(headings: Sequence[Heading]) -> dict[tuple[int, str], int]:
    """The level, from 1, of each heading by its page and its letters."""
    styles = without_strays(styles_of(headings))
    bases: dict[int, int] = {}
    below = 1
    for style, members in enumerate(styles):
        depths = {heading.depth for heading in members if heading.depth}
        bases[style] = below
        below += max(1, max(depths) - min(depths) + 1 if depths else 1)
    return {
        (heading.page, letters(heading.text)): min(DEEPEST, bases[style] + relative_depth(heading, members))
        for style, members in enumerate(styles)
        for heading in members
    }


def styles_of(headings: Sequence[Heading]) -> list[list[Heading]]:
    """Headings of one size and weight together, the most prominent first."""
    styles: list[list[Heading]] = []
    for size in sizes_of(headings):
        styles += [[one for one in size if one.bold], [one for one in size if not one.bold]]
    return [style for style in styles if style]


def without_strays(styles: list[list[Heading]]) -> list[list[Heading]]:
    """Styles of a few headings among many, a sign of the type higher than others, open no level of their own.

    They join the next style that is no stray. Those above all others are titles and stay.
    """
    few = FEW * sum(map(len, styles))
    found: list[list[Heading]] = []
    strays: list[Heading] = []
    for style in styles:
        if len(style) <= few and any(len(above) > few for above in found):
            strays += style
        else:
            found.append([*strays, *style])
            strays = []
    return [*found, strays] if strays else found


def sizes_of(headings: Sequence[Heading]) -> list[list[Heading]]:
    sizes: list[list[Heading]] = []
    for heading in sorted(headings, key=lambda one: -one.height):
        if sizes and sizes[-1][0].height - heading.height <= SAME_SIZE * heading.height:
            sizes[-1].append(heading)
        else:
            sizes.append([heading])
    return sizes


def relative_depth(heading: Heading, members: Sequence[Heading]) -> int:
    depths = [member.depth for member in members if member.depth]
    return max(0, heading.depth - min(depths)) if depths else 0


def letters(text: str) -> str:
    """What of a text stays the same on its way through Docling."""
    return re.sub(r"[\W_]", "", text.lower())
