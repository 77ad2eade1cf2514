"""A document's text into parents and children, each with its exact range and what belongs in front of it."""

from dataclasses import dataclass, field, replace

from ingest.children import child_ranges
from ingest.cutting import Range, Wish, cut_until_kept
from ingest.document import Document
from ingest.noise import TEXT, THRESHOLD, noise_class
from ingest.parents import Outline, ParentLimits, outline_of, parent_ranges
from ingest.passage import Child, Parent
from ingest.strategies import OVERLAP, PARENT_CHILD, STRATEGIES, pieces
from ingest.tokens import TokenCounter
from ingest.tree import path_to
from radrag.errors import FailedPrecondition


@dataclass(frozen=True)
class ChunkLimits:
    """Parents in tokens, children in tokens and characters; `child_characters` is the size they aim at.

    A child that scores `noise_threshold` as noise is not searched; above 1 all are. `strategy` is one of
    STRATEGIES; raises FailedPrecondition for another.
    """

    parents: ParentLimits = field(default_factory=ParentLimits)
    max_child_tokens: int = 512
    min_child_characters: int = 900
    child_characters: int = 1200
    noise_threshold: float = THRESHOLD
    strategy: str = PARENT_CHILD
    overlap: float = OVERLAP  # of pieces of fixed size, 0..0.5

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            message = f"chunking {self.strategy!r} is unknown; it must be one of {', '.join(STRATEGIES)}"
            raise FailedPrecondition(message, "CHUNKING_UNKNOWN")

    def wish(self, room: int) -> Wish:
        """What children should be like for an embedder with `room` tokens for content."""
        return Wish(min(self.max_child_tokens, room), self.min_child_characters, self.child_characters)


def chunk(document: Document, counter: TokenCounter, limits: ChunkLimits) -> list[Parent]:
    """The parents, in order, with their children.

    By parent_child the parents cover the text exactly once, and children their parent.
    """
    outline = outline_of(document.text, counter)
    if limits.strategy == PARENT_CHILD:
        ranges = parent_ranges(outline, limits.parents)
        parents = [parent_at(unit, outline, document.title, limits) for unit in ranges]
    else:
        parents = [piece_at(part, outline, document.title) for part in plain_ranges(outline, limits)]
    return without_noise(parents, limits.noise_threshold)


def plain_ranges(outline: Outline, limits: ChunkLimits) -> list[Range]:
    """The pieces of the other strategies, none above a child's limit in tokens."""
    most = limits.wish(outline.counter.room).tokens

    def cut(limit: int) -> list[Range]:
        return pieces(limits.strategy, outline.text, outline.ruler, limit, limits.overlap)

    return cut_until_kept(cut, outline.exact, most)


def piece_at(part: Range, outline: Outline, title: str) -> Parent:
    """A parent that is its own only child."""
    child = child_at(part, outline, title)
    path = heading_path(outline, part, title)
    return Parent(part[0], part[1], child.text, child.tokens, path, header_rows(outline, part[0]), (child,))


def without_noise(parents: list[Parent], threshold: float) -> list[Parent]:
    """The parents, their noisy children marked; of a document that is all noise none is."""
    marked = [
        replace(parent, children=tuple(marked_child(child, threshold) for child in parent.children))
        for parent in parents
    ]
    return marked if any(parent.searched for parent in marked) else parents


def marked_child(child: Child, threshold: float) -> Child:
    found = noise_class(child.text, threshold)
    return child if found == TEXT else replace(child, noise=found)


def parent_at(unit: Range, outline: Outline, title: str, limits: ChunkLimits) -> Parent:
    start, end = unit
    path = heading_path(outline, unit, title)
    ranges = child_ranges(unit, outline, limits.wish(outline.counter.room))
    children = tuple(child_at(part, outline, title) for part in ranges)
    text = outline.text[start:end]
    return Parent(start, end, text, outline.exact(unit), path, header_rows(outline, start), children)


def child_at(part: Range, outline: Outline, title: str) -> Child:
    start, end = part
    text = outline.text[start:end]
    above = (title, *heading_path(outline, part, title), header_rows(outline, start))
    return Child(start, end, text, outline.exact(part), context_of(*above))


def context_of(*lines: str) -> str:
    """What is put in front of a chunk, a line each; empty lines are left out."""
    return "\n".join(line for line in lines if line)


def heading_path(outline: Outline, unit: Range, title: str) -> tuple[str, ...]:
    """The sections a unit lies in, outermost first, without the document's title."""
    path = path_to(outline.root, *unit)
    return tuple(path[1:] if path and path[0].casefold() == title.casefold() else path)


def header_rows(outline: Outline, start: int) -> str:
    """The header rows of the table that `start` stands inside of; empty elsewhere."""
    block = outline.blocks_in((start, start + 1))[0]
    inside = block.kind == "table" and block.body < start
    return outline.text[block.start : block.body].rstrip("\n") if inside else ""
