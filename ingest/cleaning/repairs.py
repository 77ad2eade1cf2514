"""Repairs inside lines: wrong letters, words parted at a line's end, blanks; not in tables or code."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

import ftfy

from ingest.canonical import canonical
from ingest.cleaning.draft import KEPT_KINDS, Draft
from ingest.document import Removal
from ingest.hyphens import joins
from ingest.tree import Block

# What ftfy may do: undo wrong decodings and ligatures. Quotation marks and widths are the author's.
FIXES = ftfy.TextFixerConfig(
    unescape_html=False,
    uncurl_quotes=False,
    fix_character_width=False,
    fix_line_breaks=False,
    normalization="NFC",
)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
PARTED = re.compile(r"(?<![^\W_])([^\W_]+)(-\n[ \t]*)(?=([^\W_]+))")
BLANKS = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
# Each run once: tried at each of its signs, it takes the square.
LINE_END_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=\n)")
EMPTY_LINES = re.compile(r"\n{3,}")


def repairs(draft: Draft) -> Iterator[Removal]:
    """All repairs, letters first: where two touch one place, the first is made."""
    blocks = [block for block in draft.blocks if block.kind not in KEPT_KINDS]
    words = Counter(word.lower() for word in WORD.findall(PARTED.sub(" ", draft.text)))
    for block in blocks:
        yield from letters(draft.text, block)
    for block in blocks:
        yield from hyphens(draft.text, block, words)
        yield from blanks(draft.text, block)


def letters(text: str, block: Block) -> Iterator[Removal]:
    """Words that were decoded wrongly, and ligatures."""
    start = block.start
    for line in text[block.start : block.end].split("\n"):
        if not line.isascii():
            fixed = canonical(ftfy.fix_text(line, FIXES)).strip("\n")
            if fixed not in {line, ""} and "\n" not in fixed:
                yield narrowed(Removal("letters", start, start + len(line), fixed), line)
        start += len(line) + 1


def narrowed(one: Removal, line: str) -> Removal:
    """Without the words before and behind that did not change."""
    was, now = line.split(" "), one.text.split(" ")
    head = alike(was, now)
    tail = alike(was[head:][::-1], now[head:][::-1])
    start = one.start + sum(len(word) + 1 for word in was[:head])
    end = one.end - sum(len(word) + 1 for word in was[len(was) - tail :])
    return Removal(one.rule, start, end, " ".join(now[head : len(now) - tail]))


def alike(one: list[str], other: list[str]) -> int:
    """How many words both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def hyphens(text: str, block: Block, words: Counter[str]) -> Iterator[Removal]:
    """Line ends inside words: the hyphen goes where the halves are one word, else only the line's end."""
    for parted in PARTED.finditer(text, block.start, block.end):
        head, end, tail = parted.group(1), parted.end(2), parted.group(3)
        kept = "" if joins(head, tail, words) else "-"
        yield Removal("hyphenation", parted.start(2), end, kept)


def blanks(text: str, block: Block) -> Iterator[Removal]:
    """Runs of blanks as one, none at a line's end; runs of empty lines as one."""
    for rule, put in ((BLANKS, " "), (LINE_END_BLANKS, ""), (EMPTY_LINES, "\n\n")):
        for found in rule.finditer(text, block.start, block.end):
            yield Removal("blanks", *found.span(), put)
