"""A sentence of an answer and a piece of a source, taken apart to be compared. Pure.

Each thing is found out when it is asked for, once: around a quote word for word stands nothing as a rule, and
most windows of a source are left aside for their words alone.
"""

import re
from functools import cached_property

from gateway.bindings import Value, bound, ranges, spread
from gateway.categories import Categories, categories
from gateway.quantities import Quantities, quantities
from gateway.wording import acronyms, plain
from gateway.words import Wanted, content_words, denied, negations, polar_words

# What is left of a list item around its quote and its marker.
_NOTHING = re.compile(r"[\s.,;:*•–—-]*")


class Said:
    """What a text says, in plain wording."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def own_words(self) -> list[str]:
        return content_words(self.plain)

    @cached_property
    def quantities(self) -> Quantities:
        return quantities(self.plain)

    @cached_property
    def categories(self) -> Categories:
        return categories(self.plain)

    @cached_property
    def values(self) -> list[Value]:
        return bound(self.plain)

    @cached_property
    def ranges(self) -> frozenset[tuple[str, str]]:
        return ranges(self.plain)

    @cached_property
    def negations(self) -> int:
        return negations(self.plain)

    @cached_property
    def denied(self) -> list[frozenset[str]]:
        return denied(self.plain)


class Claim(Said):
    """What a sentence of the answer says. `words` are to be found in a source: all but the `framing`."""

    def __init__(self, text: str, framing: frozenset[str] = frozenset()) -> None:
        super().__init__(text)
        self._framing = framing

    @cached_property
    def words(self) -> list[str]:
        return [word for word in self.own_words if word not in self._framing]

    @cached_property
    def wanted(self) -> Wanted:
        """Its words, ready to be found in many windows."""
        return Wanted(self.words)

    @cached_property
    def polar(self) -> frozenset[str]:
        """Those of its words that have an opposite."""
        return frozenset(polar_words(self.words))

    @cached_property
    def names(self) -> list[str]:
        return content_words(" ".join(acronyms(self.plain)))

    @property
    def is_bare(self) -> bool:
        """Whether it has no number, no code and no negation."""
        return not (self.quantities.numbers or self.quantities.codes or self.negations)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return _NOTHING.fullmatch(self.text) is not None or (not self.words and self.is_bare)


class Window(Said):
    """A piece [start, end) of a source's text, with what stands above it when it is a table row."""

    def __init__(self, start: int, end: int, text: str, header: str) -> None:
        super().__init__(text)
        self.start, self.end, self.header = start, end, header

    @cached_property
    def words(self) -> list[str]:
        return [*content_words(self.header), *self.own_words]

    @cached_property
    def values(self) -> list[Value]:
        return bound(spread(self.header, self.plain) if self.header else self.plain)

    @cached_property
    def header_quantities(self) -> Quantities:
        return quantities(self.header)
