"""Tables of contents, lists of figures, indexes: lines that only point to pages or headings of the text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.cleaning.draft import KEPT_KINDS, Draft, bare
from ingest.document import Removal
from ingest.tree import Block

TITLE = re.compile(
    r"(table of )?contents|оглавление|содержание|"
    r"list of (figures|tables|illustrations)|"
    r"список (иллюстраций|рисунков|таблиц)",
    re.I,
)
INDEX = re.compile(r"(subject |author )?index|(предметный |алфавитный |именной )?указатель", re.I)
# Underscores lead to a number or are the gaps of a form.
# Each run of signs is tried once, from its first one, and what was passed is not given back.
LEADER = re.compile(
    r"((?<!\.)(?<!\.\s)(\.\s?){4,}+|(?<!…)…{2,}+)\s*+[\divxlc]*+\s*+$|(?<!_)_{4,}+\s*+\d{1,4}+\s*+$", re.I
)
COUNTED = re.compile(r"\d\s*$")
PAGE = re.compile(r"\s(\d{1,4})$")
PLACES_BACKWARDS = re.compile(r"(\d{1,4}\s?[,;–-])*\d{1,4}\s")  # only from its end is a row tried but once
ENTRIES = 0.6  # share of a block's lines that must be entries
FEWEST = 3  # entries that make contents of lines


def contents(draft: Draft) -> Iterator[Removal]:
    """Contents below their title, and without one where dotted leaders leave no doubt."""
    at, blocks = 0, draft.blocks
    while at < len(blocks):
        end = end_of_contents(draft, at)
        if end > at:
            yield draft.removal("contents", at, end - 1)
        at = max(end, at + 1)


def with_title(one: Removal, text: str) -> Removal:
    """Contents that a reader found by their place on the page, with the title above them."""
    if one.rule != "contents":
        return one
    end = behind_text(text, one.start)
    start = text.rfind("\n", 0, end) + 1
    if not TITLE.fullmatch(bare(text[start:end])):
        return one
    if start == 0:
        return replace(one, start=0, end=len(text) - len(text[one.end :].lstrip("\n")))
    return replace(one, start=behind_text(text, start))


def behind_text(text: str, at: int) -> int:
    """Where the line ends before `at` begin; without a copy of the text for each of many removals."""
    while at and text[at - 1] == "\n":
        at -= 1
    return at


def end_of_contents(draft: Draft, at: int) -> int:
    """The block behind contents that begin with this one; `at` itself when none do."""
    block = draft.blocks[at]
    if block.kind in KEPT_KINDS:
        return at
    if is_titled(draft, block):
        return at + 1
    title = draft.title(block)
    if TITLE.fullmatch(title):
        return end_of_entries(draft, at)
    if INDEX.fullmatch(title):
        return end_of_index(draft, at)
    lines = draft.lines(block)
    return at + 1 if len(lines) >= FEWEST and share(map(leads_to_page, lines)) >= ENTRIES else at


def is_titled(draft: Draft, block: Block) -> bool:
    """Title and entries in one block of plain text."""
    first, *lines = draft.lines(block) or [""]
    return bool(TITLE.fullmatch(bare(first))) and len(lines) >= 2 and share(map(has_leader, lines)) >= ENTRIES


def end_of_entries(draft: Draft, at: int) -> int:
    """Behind the last block whose lines have leaders, name later headings, or count up pages."""
    end, pages, found = at + 1, Counting(), list[str]()
    for block in draft.blocks[at + 1 :]:
        if block.kind in KEPT_KINDS or (block.kind == "heading" and not has_leader(block.title)):
            break
        lines = draft.lines(block)
        pages.take(lines)
        if lines and share(is_entry(draft, block, line, pages) for line in lines) < ENTRIES:
            break
        found += lines
        end += 1
    return end if len(found) >= FEWEST or (found and all(map(has_leader, found))) else at


@dataclass
class Counting:
    """The pages that lines end with, as long as they ascend."""

    last: int = 0
    many: int = 0
    ascending: bool = True

    def take(self, lines: Sequence[str]) -> None:
        """Goes on with some lines."""
        for page in (int(found.group(1)) for line in lines if (found := PAGE.search(line))):
            self.ascending = self.ascending and self.last <= page
            self.last, self.many = page, self.many + 1


def is_entry(draft: Draft, block: Block, line: str, pages: Counting) -> bool:
    """Numbers count as pages only while they ascend."""
    if has_leader(line) or draft.last_titled.get(named(line), -1) >= block.end:
        return True
    return pages.many >= FEWEST and pages.ascending and PAGE.search(line) is not None


def end_of_index(draft: Draft, at: int) -> int:
    """Behind the blocks whose lines are terms with pages, in the order of the alphabet."""
    end, terms = at + 1, list[str]()
    for block in draft.blocks[at + 1 :]:
        lines = draft.lines(block)
        if block.kind != "paragraph" or share([places_in(line) > 0 for line in lines]) < ENTRIES:
            break
        terms += [line[: len(line) - places_in(line)].casefold() for line in lines]
        end += 1
    ordered = share([one <= other for one, other in pairwise(terms)])
    return end if len(terms) >= FEWEST and ordered >= 0.8 else at


def places_in(line: str) -> int:
    """How many characters at its end are pages: " 12, 40–44"."""
    found = PLACES_BACKWARDS.match(line[::-1])
    return found.end() if found else 0


def has_leader(line: str) -> bool:
    return LEADER.search(line) is not None


def leads_to_page(line: str) -> bool:
    """Without a title dots alone may be gaps to fill in."""
    return has_leader(line) and COUNTED.search(line) is not None


def named(line: str) -> str:
    """The heading an entry points to."""
    return bare(PAGE.sub("", LEADER.sub("", line))).casefold()


def share(found: Iterable[bool]) -> float:
    """The share that holds; 0 of nothing."""
    held = list(found)
    return sum(held) / len(held) if held else 0.0
