"""Page numbers, running heads and feet in text that came without its layout.

A PDF's own are found on the page (`ingest.docling.furniture`); here only the text itself can tell.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from ingest.cleaning.draft import Draft
from ingest.document import Removal

SPELLED = re.compile(
    r"[-–—\s]*(page|стр\.?|страница|лист)\s*(\d{1,4})(\s*(of|из|/)\s*\d{1,4})?[-–—\s]*", re.I
)
PLAIN = re.compile(r"[-–—\s]*(\d{1,4})[-–—\s]*")
FEWEST = 3  # pages: two numbers alone are no sequence
SHORTEST_PAGE = 600  # characters between two bare numbers
LONGEST_HEAD = 120
ITEM_MARK = re.compile(r"[-*+]\s|\d{1,3}[.)]\s")


def page_numbers(draft: Draft) -> Iterator[Removal]:
    """Numbers alone in a block, spelled or bare, that count up; bare ones only a page's text apart."""
    for pattern, gap in ((SPELLED, 0), (PLAIN, SHORTEST_PAGE)):
        for at in counting(numbers(draft, pattern), draft, gap):
            yield draft.removal("page_number", at, at)


def numbers(draft: Draft, pattern: "re.Pattern[str]") -> list[tuple[int, int]]:
    """Blocks that are nothing but a page number, with the number."""
    found = []
    for at, block in enumerate(draft.blocks):
        text = draft.of(block)
        match = pattern.fullmatch(text) if len(text) < 40 and block.kind in {"paragraph", "list"} else None
        if match:
            found.append((at, int(next(group for group in match.groups() if group and group.isdigit()))))
    return found


def counting(found: list[tuple[int, int]], draft: Draft, gap: int) -> list[int]:
    """The blocks of runs of three or more numbers, each one more than the one before."""
    runs: list[list[tuple[int, int]]] = [found[:1]]
    for before, here in pairwise(found):
        apart = draft.blocks[here[0]].start - draft.blocks[before[0]].end >= gap
        if here[1] == before[1] + 1 and apart:
            runs[-1].append(here)
        else:
            runs.append([here])
    return [at for run in runs if len(run) >= FEWEST for at, _ in run]


def running_lines(draft: Draft) -> Iterator[Removal]:
    """Short lines that stand beside page numbers again and again. Elsewhere a line may repeat: grades do."""
    edges = {one.start: one.end for one in page_numbers(draft)}
    numbers_at = [at for at, block in enumerate(draft.blocks) if block.start in edges]
    beside = [at + step for at in numbers_at for step in (-1, 1) if is_short(draft, at + step)]
    texts = Counter(masked(draft.of(draft.blocks[at])) for at in beside)
    for at in dict.fromkeys(beside):
        if texts[masked(draft.of(draft.blocks[at]))] >= FEWEST:
            yield draft.removal("running_line", at, at)


def is_short(draft: Draft, at: int) -> bool:
    if not 0 <= at < len(draft.blocks) or draft.blocks[at].kind != "paragraph":
        return False
    text = draft.of(draft.blocks[at])
    return len(text) <= LONGEST_HEAD and not ITEM_MARK.match(text)


def masked(text: str) -> str:
    return re.sub(r"\d+", "#", re.sub(r"\s+", " ", text.casefold()))
