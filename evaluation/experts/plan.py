"""Who rates which question: groups balanced by department, and no author rates their own question."""

import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from evaluation.jsonl import DatasetError, Row, rows

Item = TypeVar("Item", "Rater", "RatedQuestion")


@dataclass(frozen=True)
class Rater:
    """An expert, by a name or a code, and where they work."""

    name: str
    department: str


@dataclass(frozen=True)
class RatedQuestion:
    """A question with the answer and the sources to rate, best first; `author` wrote the question."""

    id: str
    department: str
    author: str
    question: str
    answer: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Groups of raters, and the group of each question."""

    seed: int
    groups: tuple[tuple[Rater, ...], ...]
    questions: tuple[RatedQuestion, ...]
    group_of: Mapping[str, int]

    @property
    def study(self) -> str:
        """The plan's hash, 16 hex digits: sheets of another plan carry another."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def rater_group(self, name: str) -> int | None:
        """The group of a rater, from 0; None for a stranger."""
        return next((k for k, some in enumerate(self.groups) if any(r.name == name for r in some)), None)

    def questions_of(self, group: int) -> list[RatedQuestion]:
        """What a group rates, in the plan's order."""
        return [one for one in self.questions if self.group_of[one.id] == group]


def planned(
    questions: Sequence[RatedQuestion], raters: Sequence[Rater], groups: int = 4, seed: int = 0
) -> Plan:
    """Deals raters and questions to groups. The same seed gives the same plan.

    Raises ValueError when a group would have fewer than two raters, or nobody may rate a question.
    """
    if groups < 1 or len(raters) < 2 * groups:
        raise ValueError(f"{groups} groups need {2 * groups} raters at least; there are {len(raters)}")
    draw = random.Random(seed)  # noqa: S311  a plan must be repeatable, not secret
    members: list[list[Rater]] = [[] for _ in range(groups)]
    for place, rater in enumerate(_by_department(raters, draw)):
        members[place % groups].append(rater)
    group_of: dict[str, int] = {}
    loads: Counter[tuple[int, str]] = Counter()
    # Those whose author rates too are placed first: they have the smaller choice.
    names = {rater.name for rater in raters}
    for question in sorted(_by_department(questions, draw), key=lambda one: one.author not in names):
        group = _lightest(question, members, loads, draw)
        group_of[question.id] = group
        loads.update([(group, question.department), (group, "")])
    return Plan(seed, tuple(map(tuple, members)), tuple(questions), group_of)


def _by_department(items: Iterable[Item], draw: random.Random) -> list[Item]:
    """Shuffled, then department after department, so that dealing them in turn spreads each department."""
    by_name: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_name[item.department].append(item)
    for some in by_name.values():
        draw.shuffle(some)
    return [item for name in sorted(by_name) for item in by_name[name]]


def _lightest(
    question: RatedQuestion,
    members: Sequence[Sequence[Rater]],
    loads: Counter[tuple[int, str]],
    draw: random.Random,
) -> int:
    """The group with the fewest questions, first of this department, then in all; by lot among equals."""
    allowed = [k for k, some in enumerate(members) if all(r.name != question.author for r in some)]
    if not allowed:
        raise ValueError(f"question {question.id}: its author {question.author} is in every group")
    draw.shuffle(allowed)
    return min(allowed, key=lambda k: (loads[k, question.department], loads[k, ""]))


def raters_from(path: Path) -> list[Rater]:
    """Reads a CSV with the columns rater and department. Raises DatasetError."""
    if not path.is_file():
        raise DatasetError(path, 0, "is missing")
    found: dict[str, Rater] = {}
    for line, row in enumerate(_lines(path), 2):
        name, department = ((row.get(column) or "").strip() for column in ("rater", "department"))
        if not name or not department:
            raise DatasetError(path, line, "needs the columns rater and department, both filled in")
        if name in found:
            raise DatasetError(path, line, f"the rater {name!r} was named before")
        found[name] = Rater(name, department)
    return list(found.values())


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(path, 0, f"cannot be read as CSV in UTF-8 ({type(error).__name__})") from None


def questions_from(path: Path) -> list[RatedQuestion]:
    """Reads JSONL: id, department, author, question, answer, sources (texts, best first). DatasetError."""
    found: dict[str, RatedQuestion] = {}
    for row in rows(path):
        one = _question(row)
        if one.id in found:
            raise row.error(f"the id {one.id!r} was used before")
        found[one.id] = one
    if not found:
        raise DatasetError(path, 0, "has no questions")
    return list(found.values())


def write(plan: Plan, path: Path) -> None:
    """Keeps the plan as JSON."""
    path.write_text(json.dumps(asdict(plan), ensure_ascii=False, indent=1), encoding="utf-8")


def read(path: Path) -> Plan:
    """Reads what `write` wrote. Raises DatasetError."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        groups = tuple(tuple(Rater(**rater) for rater in some) for some in given["groups"])
        questions = [RatedQuestion(**one | {"sources": tuple(one["sources"])}) for one in given["questions"]]
        return Plan(given["seed"], groups, tuple(questions), given["group_of"])
    except OSError:
        raise DatasetError(path, 0, "is missing: make it with `radrag eval experts plan`") from None
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(path, 0, f"is not a plan ({type(error).__name__})") from None


def _question(row: Row) -> RatedQuestion:
    sources = row.list("sources")
    if not all(isinstance(source, str) for source in sources):
        raise row.error("sources is not a list of texts")
    return RatedQuestion(
        row.id("id"),
        row.text("department"),
        row.text("author"),
        row.text("question"),
        row.text("answer"),
        tuple(str(source) for source in sources),
    )
