"""A parsed text as the rules of cleaning see it: its blocks, their lines, and which of them are titles."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ingest.document import Removal
from ingest.tree import Block, blocks_of

LONGEST_TITLE = 90  # characters
EMPHASIS = re.compile(r"[*_`#]")
NUMBERING = re.compile(
    r"^((глава|раздел|часть|приложение|chapter|section|part|appendix)\s+[\dA-ZА-ЯIVX]+|"
    r"\d{1,3}(\.\d{1,3})*|[IVX]+|[A-ZА-Я])[.):]?\s+",
    re.I,
)
MARK = re.compile(r"^\s*([-*+•·–—]|\(?\d{1,3}(\.\d{1,3})*[.)])\s+|^\s*>\s?")
KEPT_KINDS = {"table", "code"}  # no rule takes these out or changes them


@dataclass(frozen=True)
class Draft:
    """A canonical text and its blocks."""

    text: str

    @cached_property
    def blocks(self) -> Sequence[Block]:
        return blocks_of(self.text)

    def of(self, block: Block) -> str:
        """The block's text without the blank lines behind it."""
        return self.text[block.start : block.end].strip("\n")

    def lines(self, block: Block) -> list[str]:
        """Its lines without the marks of lists, none empty."""
        found = (MARK.sub("", line).strip() for line in self.of(block).split("\n"))
        return [line for line in found if line]

    def title(self, block: Block) -> str:
        """A heading's title without its number; also that of a short line alone, as plain text has them."""
        if block.kind == "heading":
            return bare(block.title)
        text = self.of(block)
        alone = block.kind == "paragraph" and "\n" not in text and len(text) <= LONGEST_TITLE
        return bare(text) if alone else ""

    @cached_property
    def last_titled(self) -> dict[str, int]:
        """Where the last block of each title begins; titles in lower case."""
        return {self.title(block).casefold(): block.start for block in self.blocks}

    def removal(self, rule: str, first: int, last: int) -> Removal:
        """Takes out blocks `first` to `last`, both included."""
        return Removal(rule, self.blocks[first].start, self.blocks[last].end)


def bare(title: str) -> str:
    """A title without emphasis, number and closing signs."""
    return NUMBERING.sub("", EMPHASIS.sub("", title).strip()).strip(" .:")
