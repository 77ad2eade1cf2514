"""Cuts a document into parents: logical units of its tree that can be read alone.

A section, with all below it, is one parent when it is short; else its own text and its subsections are. What
is still small joins its smaller neighbour of the same branch. What is too large is cut between blocks, and
only a table, list or text that alone is too large is cut inside.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from ingest import joining
from ingest.cutting import Range, Wish, cut, cut_until_kept
from ingest.edges import Edge, inner_edges, last_resorts, seams
from ingest.tokens import Ruler, TokenCounter
from ingest.tree import Block, Section, blocks_of, sections_of


@dataclass(frozen=True)
class ParentLimits:
    """In tokens. A section up to `whole` stays together; a unit below `small` joins another up to `joined`.

    A unit below `tiny` joins any neighbour: a few words alone answer no question.
    """

    most: int = 1800
    small: int = 200
    whole: int = 400
    joined: int = 900
    tiny: int = 50

    def join(self, one: int, other: int) -> bool:
        """Whether two neighbours of these sizes become one."""
        smaller = min(one, other)
        return smaller < self.tiny or (smaller < self.small and one + other <= self.joined)


@dataclass(frozen=True)
class Outline:
    """A text with its blocks, its sections and its tokens."""

    text: str
    blocks: Sequence[Block]
    root: Section
    ruler: Ruler
    counter: TokenCounter

    def tokens(self, part: Range) -> int:
        """The tokens of a range within the whole text, looked up."""
        return self.ruler.count(*part)

    def exact(self, part: Range) -> int:
        """The tokens of a range as a text of its own, counted once: limits and records ask both."""
        if part not in self._counted:
            self._counted[part] = self.counter.count(self.text[slice(*part)])
        return self._counted[part]

    def blocks_in(self, part: Range) -> Sequence[Block]:
        """The blocks that have a part in the range, in order."""
        first = bisect_right(self.starts, part[0]) - 1
        return self.blocks[first : bisect_left(self.starts, part[1])]

    @cached_property
    def _counted(self) -> dict[Range, int]:
        return {}

    @cached_property
    def starts(self) -> list[int]:
        return [block.start for block in self.blocks]


def outline_of(text: str, counter: TokenCounter) -> Outline:
    """The outline of a canonical text."""
    blocks = blocks_of(text)
    return Outline(text, blocks, sections_of(blocks, len(text)), counter.ruler(text), counter)


def parent_ranges(outline: Outline, limits: ParentLimits) -> list[Range]:
    """The parents' ranges, which cover the text exactly once, none above the limit."""
    units = without_dangling(units_of(outline.root, outline, limits), outline)
    pieces = [piece for unit in units for piece in fitting(unit, outline, limits.most)]
    return headings_moved_on(pieces, outline, limits.most)


def units_of(section: Section, outline: Outline, limits: ParentLimits) -> list[Range]:
    """The logical units of a section, in order."""
    whole = (section.start, section.end)
    if outline.tokens(whole) <= limits.whole or not section.parts:
        return [whole]
    groups = [units_of(part, outline, limits) for part in section.parts]
    if section.start < section.parts[0].start:
        groups = with_lead((section.start, section.parts[0].start), groups, outline, limits)
    return [unit for group in joined(groups, outline, limits) for unit in group]


def with_lead(
    lead: Range, groups: list[list[Range]], outline: Outline, limits: ParentLimits
) -> list[list[Range]]:
    """A section's own text in front of its subsections; when short, it opens the first of them."""
    first, *others = groups[0]
    if limits.join(outline.tokens(lead), outline.tokens(first)):
        return [[(lead[0], first[1]), *others], *groups[1:]]
    return [[lead], *groups]


def joined(groups: list[list[Range]], outline: Outline, limits: ParentLimits) -> list[list[Range]]:
    """Joins small neighbours; a group of several units is a branch of its own and stays as it is."""
    done: list[list[Range]] = []
    for alone, run in groupby(groups, key=lambda group: len(group) == 1):
        if alone:
            parts = [group[0] for group in run]
            done += [[part] for part in joining.joined(parts, [*map(outline.tokens, parts)], limits.join)]
        else:
            done += run
    return done


def without_dangling(units: list[Range], outline: Outline) -> list[Range]:
    """Joins a unit of headings alone to the next one: a heading is never the last thing in a parent."""
    done: list[Range] = []
    begin: int | None = None
    for start, end in units:  # before `start` there are but headings since `begin`
        begin = start if begin is None else begin
        if any(block.kind != "heading" for block in outline.blocks_in((start, end))) or end == len(
            outline.text
        ):
            done.append((begin, end))
            begin = None
    return done


def headings_moved_on(pieces: list[Range], outline: Outline, most: int) -> list[Range]:
    """Headings at a piece's end open the next where they fit: joining and cutting may have parted them."""
    moved = list(pieces)
    for at in range(len(moved) - 1, 0, -1):
        (start, end), (_, after) = moved[at - 1], moved[at]
        begin = closing_headings(outline, (start, end))
        if start < begin < end and outline.exact((begin, after)) <= most:
            moved[at - 1 : at + 1] = [(start, begin), (begin, after)]
    return moved


def closing_headings(outline: Outline, piece: Range) -> int:
    """Where the run of headings begins that closes the piece; its end when it closes otherwise."""
    begin = piece[1]
    for block in reversed(outline.blocks_in(piece)):
        if block.kind != "heading":
            break
        begin = block.start
    return begin


def fitting(unit: Range, outline: Outline, most: int) -> list[Range]:
    """The unit itself, or the pieces it must be cut into."""
    if outline.tokens(unit) <= most and outline.exact(unit) <= most:
        return [unit]
    return cut_until_kept(lambda limit: pieces_of(unit, outline, limit), outline.exact, most)


def pieces_of(unit: Range, outline: Outline, most: int) -> list[Range]:
    """The pieces at the gentlest edges that keep the limit."""
    wish = wish_for(unit, outline, most)
    for edges in edge_choices(unit, outline, most):
        if (found := cut(*unit, edges, outline.ruler, wish)) is not None:
            return list(pairwise([unit[0], *found.ends]))
    return [unit]  # one character of more tokens than the limit: there is nothing to cut


def edge_choices(unit: Range, outline: Outline, most: int) -> Iterator[list[Edge]]:
    """Between blocks and inside those that alone are too large; then inside any; then at any word, below a
    heading only when nothing else is left."""
    blocks = outline.blocks_in(unit)
    large = [block for block in blocks if outline.tokens((block.start, block.end)) > most]
    outside = seams(outline.text, blocks)
    yield merged(outside, within(outline.text, large))
    inside = within(outline.text, blocks)
    yield merged(outside, inside)
    words = last_resorts(outline.text, *unit, outline.ruler)
    starts = {block.start for block in blocks}
    yield merged(outside, inside, [edge for edge in words if edge.position not in starts])
    yield merged(outside, inside, words)


def within(text: str, blocks: Sequence[Block]) -> list[Edge]:
    return [edge for block in blocks for edge in inner_edges(text, block)]


def wish_for(unit: Range, outline: Outline, most: int) -> Wish:
    pieces = max(1, -(-outline.tokens(unit) // most))
    return Wish(tokens=most, floor=0, size=(unit[1] - unit[0]) / pieces)


def merged(*groups: list[Edge]) -> list[Edge]:
    """Edges in order; where several coincide, the cheapest."""
    best: dict[int, float] = {}
    for edge in (edge for group in groups for edge in group):
        best[edge.position] = min(edge.cost, best.get(edge.position, edge.cost))
    return [Edge(at, best[at]) for at in sorted(best)]
