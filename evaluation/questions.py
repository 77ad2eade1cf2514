"""Our own question sets: JSONL with answerability, reference answers and evidence quotes.

`evidence` is a list of alternatives, any of which is enough; an alternative is a list of quotes, all of which
are needed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.jsonl import DatasetError, Row, rows


@dataclass(frozen=True)
class Quote:
    """Words of a document that are evidence, as they stand in its Markdown (white space apart)."""

    document: str
    text: str
    section: str = ""


@dataclass(frozen=True)
class Question:
    """A question and what a right answer rests on; `evidence` is empty when the base cannot answer it."""

    id: str
    topic: str
    language: str
    text: str
    answerable: bool
    reference_answer: str = ""
    evidence: tuple[tuple[Quote, ...], ...] = ()
    complexity: int = 0
    cross_language: bool = False  # asked in one language, answered only in the other


def load(path: Path) -> list[Question]:
    """Reads a question set. Raises DatasetError."""
    questions: dict[str, Question] = {}
    for row in rows(path):
        question = _question(row)
        if question.id in questions:
            raise row.error(f"the id {question.id!r} was used before")
        questions[question.id] = question
    if not questions:
        raise DatasetError(path, 0, "has no questions")
    return list(questions.values())


def sha256(path: Path) -> str:
    """The hash of a question file's bytes, hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _question(row: Row) -> Question:
    evidence, answerable = _evidence(row), row.flag("answerable")
    if answerable != bool(evidence):
        raise row.error("needs evidence" if answerable else "has evidence, yet is not answerable")
    text = row.text("question")
    if not text.strip() or len(text) > 2000:
        raise row.error("question has not 1 to 2,000 characters")
    return Question(
        row.id("id"),
        row.text("topic"),
        row.text("language"),
        text,
        answerable,
        row.text("reference_answer", ""),
        evidence,
        _complexity(row),
        row.flag("cross_language", default=False),
    )


def _evidence(row: Row) -> tuple[tuple[Quote, ...], ...]:
    paths = []
    for path in row.list("evidence"):
        if not isinstance(path, list) or not path:
            raise row.error("evidence is not a list of lists of quotes")
        paths.append(tuple(_quote(row, quote) for quote in path))
    return tuple(paths)


def _quote(row: Row, quote: object) -> Quote:
    if not isinstance(quote, Mapping):
        raise row.error("a quote is not an object with document and quote")
    inner = Row(row.file, row.line, dict(quote))
    text = inner.text("quote")
    if not text.strip():
        raise row.error("a quote is empty")
    return Quote(inner.text("document"), text, inner.text("section", ""))


def _complexity(row: Row) -> int:
    value = row.values.get("complexity", 0)
    if not isinstance(value, int) or value not in {0, 1, 2}:
        raise row.error("complexity is not 0, 1 or 2")
    return value
