"""What cleaning took out of a document, rule by rule, for the reviewer who must see it. Pure."""

from dataclasses import dataclass

from ingest.document import Document, Removal

SAMPLES = 10
LONGEST = 500  # code points of a sample


@dataclass(frozen=True)
class Removed:
    """What one rule took out or repaired: `count` places, `characters` code points in all.

    `samples` are the texts of the largest places, the largest first, each cut to LONGEST code points.
    """

    rule: str
    count: int
    characters: int
    samples: tuple[str, ...]


def removals(document: Document) -> list[Removed]:
    """All of it, the rules in the order in which they first came to act."""
    rules: dict[str, list[Removal]] = {}
    for one in document.removals:
        rules.setdefault(one.rule, []).append(one)
    return [_removed(rule, found, document.raw) for rule, found in rules.items()]


def _removed(rule: str, found: list[Removal], raw: str) -> Removed:
    largest = sorted(found, key=lambda one: (one.start - one.end, one.start))[:SAMPLES]
    return Removed(
        rule,
        len(found),
        sum(one.end - one.start for one in found),
        tuple(raw[one.start : min(one.end, one.start + LONGEST)] for one in largest),
    )
