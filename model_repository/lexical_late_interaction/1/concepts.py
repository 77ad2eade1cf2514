"""The words of radiology that mean one thing, within a language and across the two: kidney, renal, почка."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from words import words

# Beside the real file: another model reaches this one by a link.
_FILE = Path(__file__).resolve().parent / "concepts.txt"
Concepts = frozenset[int]
_NONE: Concepts = frozenset()


def concepts(stem: str) -> Concepts:
    """The concepts that a word of this stem may stand for; most words have none of their own."""
    return _by_stem().get(stem, _NONE)


def all_concepts(stems: Iterable[str]) -> Concepts:
    """What some of the words stand for."""
    return _NONE.union(*map(concepts, stems))


@cache
def _by_stem() -> dict[str, Concepts]:
    found: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(_FILE.read_text(encoding="utf-8").splitlines()):
        for word in [] if line.startswith("#") else words(line):
            found[word.stem].add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}
