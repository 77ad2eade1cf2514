"""The tree of a Markdown document: its blocks, and the sections its headings make, at exact offsets.

Every code point belongs to one block: blank lines to the block before them. All offsets are code points.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Only blocks are wanted; what stands inside a line is left as it is.
PARSER = MarkdownIt("commonmark").enable("table").disable("inline")
KINDS = {
    "heading_open": "heading",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
}
TEXTS_KEPT = 8  # by who asks next: about as many documents as are under way
MOST = 0.75  # of a range that makes a section its own: a short line from above does not hide it


@dataclass(frozen=True)
class Block:
    """One block, [start, end). `level` and `title` are a heading's.

    `inner` holds (offset, depth) of the items of a list, the first left out, depth 0 the outermost; or of a
    table's body rows, the first left out, which starts at `body`.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""
    inner: tuple[tuple[int, int], ...] = ()
    body: int = 0


@dataclass
class Section:
    """A heading with what stands below it: its own blocks, then its subsections. The root has level 0."""

    level: int
    title: str
    start: int
    end: int = 0
    blocks: list[Block] = field(default_factory=list)
    parts: list["Section"] = field(default_factory=list)


@lru_cache(maxsize=TEXTS_KEPT)
def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of a canonical text, which together cover it exactly once.

    Cleaning and cutting both ask; where cleaning found nothing to change it is one text.
    """
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    tokens = PARSER.parse(text)
    tops = [at for at, token in enumerate(tokens) if token.level == 0 and token.map and token.nesting >= 0]
    begins = [0, *(line_start(tokens[at], starts) for at in tops[1:]), len(text)]
    ranges = list(pairwise(begins))
    if not tops:
        return (Block("paragraph", 0, len(text)),) if text else ()
    ends = [*tops[1:], len(tokens)]
    return tuple(
        block_of(tokens[top:after], start, end, starts)
        for top, after, (start, end) in zip(tops, ends, ranges, strict=True)
    )


def line_start(token: Token, starts: list[int]) -> int:
    assert token.map is not None
    return starts[token.map[0]]


def block_of(tokens: list[Token], start: int, end: int, starts: list[int]) -> Block:
    kind = KINDS.get(tokens[0].type, "paragraph")
    if kind == "heading":
        return Block(kind, start, end, int(tokens[0].tag[1]), tokens[1].content.strip())
    if kind == "table":
        rows = list(body_rows(tokens, starts))
        return Block(
            kind, start, end, inner=tuple((row, 0) for row in rows[1:]), body=rows[0] if rows else end
        )
    inner = dict(reversed(list(items(tokens, starts))))
    return Block(
        kind, start, end, inner=tuple(sorted((at, depth) for at, depth in inner.items() if at > start))
    )


def body_rows(tokens: list[Token], starts: list[int]) -> Iterator[int]:
    at = next((at for at, token in enumerate(tokens) if token.type == "tbody_open"), len(tokens))
    yield from (line_start(token, starts) for token in tokens[at:] if token.type == "tr_open")


def items(tokens: list[Token], starts: list[int]) -> Iterator[tuple[int, int]]:
    """Where list items start, and how deep. Two on one line: the outer one counts."""
    depth = -1
    for token in tokens:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            depth += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            depth -= 1
        elif token.type == "list_item_open":
            yield line_start(token, starts), depth


def sections_of(blocks: Sequence[Block], end: int) -> Section:
    """The root of the sections that the blocks' headings make."""
    root = Section(0, "", 0, end)
    path = [root]
    for block in blocks:
        if block.kind == "heading":
            while path[-1].level >= block.level:
                path.pop().end = block.start
            path.append(Section(block.level, block.title, block.start, end))
            path[-2].parts.append(path[-1])
        path[-1].blocks.append(block)
    return root


def path_to(root: Section, start: int, end: int) -> list[str]:
    """The titles of the sections in which [start, end) lies, all but a little of it, outermost first."""
    # What has more than half of the range has its middle.
    behind = bisect_right(root.parts, (start + end) // 2, key=lambda part: part.start)
    for part in root.parts[max(behind - 1, 0) : behind]:
        if min(end, part.end) - max(start, part.start) >= MOST * (end - start):
            return [part.title, *path_to(part, start, end)]
    return []
