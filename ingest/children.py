"""Cuts a parent into children: whole sentences, rows or items where possible, always within both limits."""

from dataclasses import replace
from itertools import pairwise

from ingest.cutting import Cut, Range, Wish, cut, cut_until_kept
from ingest.edges import Edge, last_resorts, seams
from ingest.parents import Outline, merged, within


def child_ranges(parent: Range, outline: Outline, wish: Wish) -> list[Range]:
    """The children's ranges, which cover the parent exactly once.

    None has more than `wish.tokens` tokens on its own; none is below `wish.floor` characters where some cut
    avoids it.
    """

    def pieces(limit: int) -> list[Range]:
        ends = best_cut(parent, outline, replace(wish, tokens=limit)).ends
        return list(pairwise([parent[0], *ends]))

    return cut_until_kept(pieces, outline.exact, wish.tokens)


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
