"""What the index holds at one revision, and who still looks at an older one. Values only, no database."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from retrieval.document import Document
from retrieval.fingerprint import Fingerprint
from retrieval.frequencies import Frequencies, total

DAYS_KNOWN = 256  # topics times days


@dataclass(frozen=True)
class Version:
    """A published version. The last published one of a document is `live`; the others were superseded."""

    edition: str
    document: Document
    live: bool
    parents: int
    children: int
    frequencies: Frequencies
    revision: int


@dataclass(frozen=True)
class Counts:
    """How much is live."""

    documents: int
    parents: int
    children: int


@dataclass(frozen=True)
class Generation:
    """One whole index: what made it, its versions by edition, term frequencies of the live ones, topics and
    languages."""

    name: str
    fingerprint: Fingerprint
    bm25_sha256: str
    versions: Mapping[str, Version] = field(default_factory=dict)
    frequencies: Frequencies = field(default_factory=Frequencies)
    topics: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()

    def all_in_force(self, day: int) -> bool:
        """Whether every version holds on that day, so that nobody needs to look at days."""
        first, last = self._common_days
        return first <= day < last

    @cached_property
    def _common_days(self) -> tuple[int, float]:
        """The days on which every version is in force: the first, and the one after the last."""
        documents = [one.document for one in self.versions.values()]
        ends = (inf if one.valid_to is None else one.valid_to for one in documents)
        return max((one.valid_from for one in documents), default=0), min(ends, default=inf)

    def in_force(self, topic: str, day: int) -> frozenset[str]:
        """The editions of a topic's documents that are in force on a day; worked out once."""
        known = self._in_force
        if (topic, day) not in known:
            if len(known) >= DAYS_KNOWN:
                known.clear()
            known[topic, day] = frozenset(
                edition
                for edition, one in self.versions.items()
                if one.document.topic == topic and one.document.in_force(day)
            )
        return known[topic, day]

    @cached_property
    def _in_force(self) -> dict[tuple[str, int], frozenset[str]]:
        return {}

    def live(self) -> list[Version]:
        """The live versions."""
        return [version for version in self.versions.values() if version.live]

    def counts(self) -> dict[str, "Counts"]:
        """What is live in each topic that has something."""
        counted = {topic: Counts(0, 0, 0) for topic in sorted(self.topics)}
        for one in self.live():
            before = counted[one.document.topic]
            counted[one.document.topic] = Counts(
                before.documents + 1, before.parents + one.parents, before.children + one.children
            )
        return counted

    def holding(self, versions: Mapping[str, Version]) -> "Generation":
        """The same generation with other versions; counts only the difference."""
        before, after = self.versions, versions
        gone = [one for one in before.values() if one.live and after.get(one.edition) is not one]
        new = [one for one in after.values() if one.live and before.get(one.edition) is not one]
        frequencies = total([self.frequencies, *_frequencies(new)], _frequencies(gone))
        topics = frozenset(one.document.topic for one in after.values())
        languages = frozenset(one.document.language for one in after.values())
        return replace(self, versions=after, frequencies=frequencies, topics=topics, languages=languages)


@dataclass(frozen=True)
class Snapshot:
    """Everything a search must know of the version table, at one revision."""

    revision: int = 0
    generations: Mapping[str, Generation] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """What one call sees: a revision and one generation of it; None while nothing was ever published."""

    revision: int
    generation: Generation | None


class Readers:
    """Counts who reads in which revision, so that nothing is cleaned up under a reader."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._left = asyncio.Event()

    @contextmanager
    def reading(self, snapshot: Snapshot) -> Iterator[Snapshot]:
        """Holds a snapshot."""
        self._counts[snapshot.revision] += 1
        try:
            yield snapshot
        finally:
            self._leave(snapshot.revision)

    def _leave(self, revision: int) -> None:
        self._counts[revision] -= 1
        if not self._counts[revision]:
            del self._counts[revision]
            self._left.set()
            self._left = asyncio.Event()

    async def gone_before(self, revision: int) -> None:
        """Returns when nobody holds a snapshot older than `revision`."""
        while any(held < revision for held in self._counts):
            await self._left.wait()


def _frequencies(versions: Iterable[Version]) -> list[Frequencies]:
    return [version.frequencies for version in versions]
