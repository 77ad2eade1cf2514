"""Measures of Markdown: words and snippets of web pages, cells of tables, headings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from xml.etree import ElementTree

WORD = re.compile(r"\w+")
HEADING = re.compile(r"^#{1,6} +(.+)$", re.M)
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
ALIKE = 0.85  # likeness from which two headings are one: numbers and hyphens differ between editions


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.casefold())


def f1(found: Iterable[str], wanted: Iterable[str]) -> float:
    """Twice what both have, by how often, over all that each has; 0 to 1, 0 when both are empty."""
    one, other = Counter(found), Counter(wanted)
    size = one.total() + other.total()
    return 2 * (one & other).total() / size if size else 0.0


def held(text: str, snippets: Sequence[str]) -> int:
    """How many snippets stand in a text, whatever stands between their words."""
    joined = f" {' '.join(words(text))} "
    return sum(f" {' '.join(words(snippet))} " in joined for snippet in snippets)


def cells(markdown: str) -> list[str]:
    """The words of each table cell that has some."""
    rows = [line for line in markdown.split("\n") if line.lstrip().startswith("|")]
    found = (" ".join(words(cell)) for row in rows for cell in re.split(r"(?<!\\)\|", row))
    return [cell for cell in found if cell]


def true_cells(xml: bytes) -> list[str]:
    """The words of each cell in a structure file of the ICDAR 2013 table competition."""
    root = ElementTree.fromstring(xml)  # noqa: S314  # a data set's own file
    found = (" ".join(words(cell.text or "")) for cell in root.iter("content"))
    return [cell for cell in found if cell]


def headings(markdown: str) -> list[str]:
    """The words of each heading that has some; a comment in code is none."""
    found = (" ".join(words(title)) for title in HEADING.findall(FENCED.sub("", markdown)))
    return [title for title in found if title]


def matched(found: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """Precision and recall of headings, each wanted one matched once by the likest found one."""
    left = list(wanted)
    hits = 0
    for title in found:
        best = max(left, key=lambda other: likeness(title, other), default="")
        if left and likeness(title, best) >= ALIKE:
            left.remove(best)
            hits += 1
    return hits / len(found) if found else 0.0, hits / len(wanted) if wanted else 0.0


def likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0
