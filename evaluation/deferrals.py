"""How the scope gates judge questions: those they should stop, and those they stop without reason.

A question set is JSONL with `question` or `text`; a `gate` names the one that should stop it, empty or absent
means that none should.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.jsonl import rows


@dataclass(frozen=True)
class Asked:
    """A question, and the gate that should stop it; empty: none."""

    text: str
    gate: str = ""


@dataclass(frozen=True)
class Judged:
    """What the gates say: by the question's words, and by its vector. Empty: it passes."""

    gate: str
    by_pattern: str
    by_vector: str

    @property
    def stopped(self) -> bool:
        """Whether it gets a deferral instead of an answer."""
        return bool(self.by_pattern or self.by_vector)


@dataclass(frozen=True)
class Count:
    """One group of questions of one set: how many, and how many were stopped, in which way."""

    name: str
    questions: int
    by_pattern: int
    by_vector: int
    stopped: int


def load(path: Path, limit: int = 0) -> list[Asked]:
    """Reads a set, or `limit` of its questions drawn with a fixed seed. Raises DatasetError."""
    found = [
        Asked(row.text("question", "") or row.text("text", "") or row.text("title"), row.text("gate", ""))
        for row in rows(path)
    ]
    return random.Random(20261201).sample(found, limit) if 0 < limit < len(found) else found  # noqa: S311


def counted(name: str, judged: Sequence[Judged]) -> list[Count]:
    """A row per gate that should stop questions of the set, and one for those that none should."""
    gates = sorted({one.gate for one in judged})
    return [_count(f"{name} {gate or 'ours'}", [one for one in judged if one.gate == gate]) for gate in gates]


def _count(name: str, judged: Sequence[Judged]) -> Count:
    return Count(
        name,
        len(judged),
        _number(one.by_pattern for one in judged),
        _number(one.by_vector for one in judged),
        sum(one.stopped for one in judged),
    )


def _number(names: Iterable[str]) -> int:
    return sum(bool(name) for name in names)
