"""Answers that try to pass as supported: reads them, asks a checker, and counts what is caught by kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

REFUSAL, PARTIAL, TRUE = "refusal", "partial answer", "true answer"


@dataclass(frozen=True)
class Source:
    """A source as a generator would see it."""

    name: str
    language: str
    title: str
    text: str


@dataclass(frozen=True)
class Case:
    """An answer over numbered sources. `passes`: it is a good one, and must be let through."""

    kind: str
    sources: tuple[Source, ...]
    answer: str
    passes: bool

    @property
    def language(self) -> str:
        """The language of its sources."""
        return self.sources[0].language


@dataclass(frozen=True)
class Seen:
    """What left the gateway: an answer or a refusal and why, the markers in its text, what was verified.

    `flagged`: a sentence was marked as unsupported; `partial`: the answer says that something is missing.
    """

    answered: bool
    reason: str
    markers: tuple[int, ...]
    verified: tuple[bool, ...]
    flagged: bool
    partial: bool


@dataclass(frozen=True)
class Rate:
    """How many cases of one kind went as they must."""

    kind: str
    cases: int
    right: int

    @property
    def share(self) -> float:
        """The part of them, 0..1."""
        return self.right / self.cases


def load(path: Path) -> list[Case]:
    """The cases of a file. Raises KeyError naming a source that is not in it."""
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    sources = {name: Source(name, *part) for name, part in given["sources"].items()}
    return [
        Case(kind, tuple(sources[name] for name in names), answer, group == "pass")
        for group in ("kinds", "pass")
        for kind, cases in given[group].items()
        for names, answer in cases
    ]


def is_right(case: Case, seen: Seen) -> bool:
    """Whether the case went as it must: a bad answer leaves nothing verified and no marker to nowhere."""
    if case.kind == REFUSAL:
        return not seen.answered and seen.reason == "generator_refused"
    if case.passes:
        good = seen.answered and bool(seen.verified) and all(seen.verified) and not seen.flagged
        return good and seen.partial == (case.kind == PARTIAL)
    nowhere = any(not 1 <= marker <= len(case.sources) for marker in seen.markers)
    return not nowhere and not any(seen.verified) and (seen.flagged or not seen.answered)


def rates(cases: Sequence[Case], check: Callable[[Case], Seen]) -> tuple[list[Rate], list[Case]]:
    """The share of each kind in the file's order, and the cases that went wrong."""
    wrong = [case for case in cases if not is_right(case, check(case))]
    found = []
    for kind in dict.fromkeys(case.kind for case in cases):
        count = sum(case.kind == kind for case in cases)
        found.append(Rate(kind, count, count - sum(case.kind == kind for case in wrong)))
    return found, wrong
