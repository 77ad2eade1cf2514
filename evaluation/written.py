"""Answers as a file keeps them, and what can be said of them by rule: no judge, no model.

A line: id, question, answer, reference, sources (texts), and, where a service gave the answer: answerable,
outcome, citations, verified, unsupported, and passages (what the sources were made of).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evaluation.jsonl import DatasetError, Row, rows
from evaluation.normalised import Normalised

Scores = dict[str, dict[str, float]]
"""Metric → case → score."""
ANSWERED, REFUSALS = "ANSWERED", ("INSUFFICIENT_EVIDENCE", "OUT_OF_SCOPE")


@dataclass(frozen=True)
class Shown:
    """A source as the generator was given it."""

    document: str
    title: str
    heading: tuple[str, ...]
    context: str
    text: str
    language: str = ""

    @property
    def readable(self) -> str:
        """The source as it is read alone."""
        above = (self.title, " > ".join(self.heading), self.context)
        return "\n".join(part for part in (*above, self.text) if part)


@dataclass(frozen=True)
class Asked:
    """A question with what is known of its answer; `answerable` is None where nobody has said."""

    id: str
    question: str
    reference: str = ""
    answerable: bool | None = None


@dataclass(frozen=True)
class Written:
    """An answer. `outcome` is empty where no service said one; `passages` are its sources, best first."""

    asked: Asked
    answer: str
    sources: tuple[str, ...] = ()
    outcome: str = ""
    citations: int = 0
    verified: int = 0
    unsupported: int = 0
    passages: tuple[Shown, ...] = field(default=())
    error: str = ""

    @property
    def answered(self) -> bool:
        """Whether there is an answer; a refusal has a text, too."""
        return self.outcome in {"", ANSWERED} and bool(self.answer.strip())


@dataclass(frozen=True)
class Reader:
    """What the rules look for in a text: its quotes, and its numbers with their units."""

    quotes: Callable[[str], Sequence[str]]
    numbers: Callable[[str], Sequence[tuple[str, str]]]


def by_rule(answers: Sequence[Written], reader: Reader) -> Scores:
    """Each metric of the answers that have it, 0 to 1.

    citation_validity: citations found in the stored text. quote_exactness: quotes that stand in a source word
    for word. numbers_supported: numbers that stand in a source with their unit. sentences_supported: 1 when
    none is unsupported. answered: answerable questions that were. refusal_precision: 1 for a right refusal.
    refusal_recall: 1 for an unanswerable question that was refused.
    """
    found: Scores = {}
    for one in answers:
        for name, value in _rules(one, reader).items():
            found.setdefault(name, {})[one.asked.id] = value
    return found


def _rules(one: Written, reader: Reader) -> dict[str, float]:
    values = _refusal(one)
    if not one.answered:
        return values
    if one.citations:
        values["citation_validity"] = one.verified / one.citations
    if one.outcome:
        values["sentences_supported"] = float(not one.unsupported)
    if one.sources:
        values |= _words(one, reader)
    return values


def _words(one: Written, reader: Reader) -> dict[str, float]:
    texts = [Normalised.of(source) for source in one.sources]
    there = {number for source in one.sources for number in reader.numbers(source)}
    parts = {
        "quote_exactness": [any(text.find(quote) for text in texts) for quote in reader.quotes(one.answer)],
        "numbers_supported": [number in there for number in reader.numbers(one.answer)],
    }
    return {name: sum(flags) / len(flags) for name, flags in parts.items() if flags}


def _refusal(one: Written) -> dict[str, float]:
    answerable, refused = one.asked.answerable, one.outcome in REFUSALS
    if answerable is None or one.error:
        return {}
    values = {"answered": float(one.answered)} if answerable else {"refusal_recall": float(refused)}
    return values | ({"refusal_precision": float(not answerable)} if refused else {})


def read(path: Path) -> list[Written]:
    """Reads answers. Raises DatasetError."""
    found: dict[str, Written] = {}
    for row in rows(path):
        one = _written(row)
        if one.asked.id in found:
            raise row.error(f"the id {one.asked.id!r} was used before")
        found[one.asked.id] = one
    if not found:
        raise DatasetError(path, 0, "has no answers")
    return list(found.values())


def write(answers: Sequence[Written], path: Path) -> None:
    """Keeps answers, one a line: they hold questions and texts, so the file is as private as those are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_line(one) for one in answers), encoding="utf-8")


def _line(one: Written) -> str:
    values = {**asdict(one.asked), **asdict(one)}
    values.pop("asked")
    return json.dumps(values, ensure_ascii=False) + "\n"


def _written(row: Row) -> Written:
    sources = row.list("sources")
    if not all(isinstance(source, str) for source in sources):
        raise row.error("sources is not a list of texts")
    question, answer, reference = row.text("question"), row.text("answer"), row.text("reference", "")
    answerable = None if row.values.get("answerable") is None else row.flag("answerable")
    citations, verified, unsupported = (_count(row, n) for n in ("citations", "verified", "unsupported"))
    if verified > citations:
        raise row.error("more citations are verified than there are")
    return Written(
        Asked(row.id("id"), question, reference, answerable),
        answer,
        tuple(map(str, sources)),
        _outcome(row),
        citations,
        verified,
        unsupported,
        tuple(_shown(row, one) for one in row.list("passages")),
        row.text("error", ""),
    )


def _outcome(row: Row) -> str:
    outcome = row.text("outcome", "")
    if outcome not in {"", "UNSPECIFIED", ANSWERED, *REFUSALS}:
        raise row.error(f"outcome is {outcome!r}, none of {', '.join((ANSWERED, *REFUSALS))}")
    return outcome


def _count(row: Row, name: str) -> int:
    value = row.values.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise row.error(f"{name} is not a number of things")
    return value


def _shown(row: Row, given: object) -> Shown:
    if not isinstance(given, Mapping):
        raise row.error("a passage is not an object")
    inner = Row(row.file, row.line, dict(given))
    heading = inner.list("heading")
    texts = [inner.text(name, "") for name in ("document", "title")]
    rest = [inner.text(name, "") for name in ("context", "text", "language")]
    return Shown(texts[0], texts[1], tuple(map(str, heading)), *rest)
