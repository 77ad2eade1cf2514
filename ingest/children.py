"""Cuts a parent into children: whole sentences, rows or items where possible, always within both limits."""

from ingest.cutting import Cut, Wish, cut
from ingest.edges import Edge, last_resorts, seams
from ingest.parents import Outline, Range, merged, within
from ingest.tokens import TokenCounter


def child_ranges(parent: Range, outline: Outline, counter: TokenCounter, wish: Wish) -> list[Range]:
    """The children's ranges, which cover the parent exactly once.

    None has more than `wish.tokens` tokens on its own; none is below `wish.floor` characters where some cut
    avoids it. A cut inside a word can make tokens that the one pass over the document did not see: then the
    limit is lowered by what was too much, and the parent is cut again.
    """
    limit = wish.tokens
    while True:
        ends = best_cut(parent, outline, Wish(limit, wish.floor, wish.size)).ends
        ranges = list(zip([parent[0], *ends[:-1]], ends, strict=True))
        excess = max(counter.count(outline.text[start:end]) for start, end in ranges) - wish.tokens
        if excess <= 0 or limit <= 1:
            return ranges
        limit = max(1, limit - excess)


def best_cut(parent: Range, outline: Outline, wish: Wish) -> Cut:
    edges = good_edges(parent, outline)
    found = cut(*parent, edges, outline.ruler, wish)
    if found is not None and (found.below == 0 or len(found.ends) == 1):
        return found
    edges = merged(edges, last_resorts(outline.text, *parent, outline.ruler))
    desperate = cut(*parent, edges, outline.ruler, wish)
    if found is None or (desperate is not None and desperate.below < found.below):
        found = desperate
    return found or Cut([parent[1]], 0)


def good_edges(parent: Range, outline: Outline) -> list[Edge]:
    blocks = outline.blocks_in(parent)
    edges = merged(seams(outline.text, blocks), within(outline.text, blocks))
    return [edge for edge in edges if parent[0] < edge.position < parent[1]]
