"""Where a text may be cut, and how much a cut there hurts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.tokens import Ruler
from ingest.tree import Block
from radrag.sentences import sentences

# What a cut costs. The unit is the square of a piece's relative distance from its wished size.
BLOCK, ITEM, NESTED, LINE, SENTENCE, LEAD_IN, WORD, INSIDE_WORD = 0.0, 0.1, 0.3, 0.3, 0.4, 2.0, 5.0, 50.0


@dataclass(frozen=True)
class Edge:
    """A place to cut, in code points, and its cost."""

    position: int
    cost: float


def seams(text: str, blocks: Sequence[Block]) -> list[Edge]:
    """Starts of blocks that may begin a piece: never below a heading, hardly below a line that leads in."""
    return [
        Edge(block.start, LEAD_IN if leads_in(text, before, block) else BLOCK)
        for before, block in pairwise(blocks)
        if before.kind != "heading"
    ]


def leads_in(text: str, before: Block, block: Block) -> bool:
    """Whether `before` announces the list or table after it: "The limits are:"."""
    if before.kind != "paragraph" or block.kind not in {"list", "table", "code"}:
        return False
    return text[before.start : before.end].rstrip().endswith(":")


def inner_edges(text: str, block: Block) -> list[Edge]:
    """Places inside one block: rows, items, lines of code, ends of sentences; the cheaper of two in one."""
    found = dict.fromkeys(sentence_ends(text, block), SENTENCE)
    if block.kind == "code":
        found = dict.fromkeys(line_starts(text, block), LINE)
    found |= {at: ITEM if depth == 0 else NESTED for at, depth in block.inner}
    return [Edge(at, cost) for at, cost in sorted(found.items()) if block.start < at < block.end]


def sentence_ends(text: str, block: Block) -> Iterator[int]:
    if block.kind in {"paragraph", "list"}:
        yield from (block.start + end for _, end in sentences(text[block.start : block.end]))


def line_starts(text: str, block: Block) -> Iterator[int]:
    at = text.find("\n", block.start, block.end)
    while at >= 0:
        yield at + 1
        at = text.find("\n", at + 1, block.end)


def last_resorts(text: str, start: int, end: int, ruler: Ruler) -> list[Edge]:
    """Every word's start, and every token's end, for text that has no better place to be cut."""
    first, last = ruler.upto(start), ruler.upto(end)
    places = {int(at) for at in ruler.ends[first:last]}
    places |= {at for at in range(start + 1, end) if text[at - 1].isspace() and not text[at].isspace()}
    return [
        Edge(at, WORD if text[at - 1].isspace() else INSIDE_WORD) for at in sorted(places) if start < at < end
    ]
