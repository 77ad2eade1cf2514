"""A document's text into parents and children, each with its exact range and what belongs in front of it."""

from dataclasses import dataclass, field

from ingest.children import child_ranges
from ingest.cutting import Range, Wish
from ingest.document import Document
from ingest.parents import Outline, ParentLimits, outline_of, parent_ranges
from ingest.passage import Child, Parent
from ingest.tokens import TokenCounter
from ingest.tree import path_to

STRATEGY = "parent_child"


@dataclass(frozen=True)
class ChunkLimits:
    """Parents in tokens, children in tokens and characters; `child_characters` is the size they aim at."""

    parents: ParentLimits = field(default_factory=ParentLimits)
    max_child_tokens: int = 512
    min_child_characters: int = 900
    child_characters: int = 1200

    def wish(self, room: int) -> Wish:
        """What children should be like for an embedder with `room` tokens for content."""
        return Wish(min(self.max_child_tokens, room), self.min_child_characters, self.child_characters)


def chunk(document: Document, counter: TokenCounter, limits: ChunkLimits) -> list[Parent]:
    """The parents, in order, with their children. Parents cover the text once, children their parent once."""
    outline = outline_of(document.text, counter)
    ranges = parent_ranges(outline, limits.parents)
    return [parent_at(unit, outline, document.title, counter, limits) for unit in ranges]


def parent_at(
    unit: Range, outline: Outline, title: str, counter: TokenCounter, limits: ChunkLimits
) -> Parent:
    start, end = unit
    path = heading_path(outline, unit, title)
    ranges = child_ranges(unit, outline, limits.wish(counter.room))
    children = tuple(child_at(part, outline, title, counter) for part in ranges)
    text = outline.text[start:end]
    return Parent(start, end, text, counter.count(text), path, header_rows(outline, start), children)


def child_at(part: Range, outline: Outline, title: str, counter: TokenCounter) -> Child:
    start, end = part
    text = outline.text[start:end]
    above = (title, *heading_path(outline, part, title), header_rows(outline, start))
    return Child(start, end, text, counter.count(text), context_of(*above))


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
