"""Of texts that may each stand at several places, the choice that is in order and has the most words."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Words [start, end) of the text that was found."""

    start: int
    end: int


@dataclass(frozen=True)
class Link:
    """The best chain that ends with one text, by its last word and its weight."""

    end: int
    weight: int
    text: int
    before: "Link | None"


def longest_chain(places: Sequence[Sequence[Place]]) -> set[int]:
    """Which texts, by number, are in the heaviest chain: in order, none begins before the last one ended."""
    best: list[Link] = []  # ends and weights both ascend: what is worse and ends later is left out
    for text, found in enumerate(places):
        links = [linked(best, text, place) for place in found]
        for link in links:
            insert(best, link)
    chosen, last = set(), best[-1] if best else None
    while last is not None:
        chosen.add(last.text)
        last = last.before
    return chosen


def linked(best: list[Link], text: int, place: Place) -> Link:
    at = bisect_right(best, place.start, key=lambda link: link.end)
    before = best[at - 1] if at else None
    return Link(place.end, place.end - place.start + (before.weight if before else 0), text, before)


def insert(best: list[Link], link: Link) -> None:
    """Of two that are as good the later stays: menus stand before what they repeat."""
    at = bisect_right(best, link.end, key=lambda other: other.end)
    if at and (best[at - 1].weight, link.end) > (link.weight, best[at - 1].end):
        return
    start = at - 1 if at and best[at - 1].end == link.end else at
    end = at
    while end < len(best) and best[end].weight <= link.weight:
        end += 1
    best[start:end] = [link]
