"""Chunks that rank high and look relevant without being annotated, and annotations with a person's decisions.

Likeness is the share of an annotated path's words (or, if greater, of the reference answer's) that a chunk
holds. It finds what a person should look at; it decides nothing.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluation.annotated import Annotated
from evaluation.datasets import Span
from evaluation.evidence import Chunking, Evidence
from evaluation.jsonl import rows

_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True)
class Candidate:
    """A chunk to look at: its place, rank from 1, and likeness from 0 to 1. `accept` is a person's word."""

    question: str
    document: str
    start: int
    end: int
    rank: int
    likeness: float
    text: str
    accept: bool = False


def candidates(
    questions: Iterable[Annotated],
    rankings: Mapping[str, Sequence[str]],
    chunking: Chunking,
    texts: Mapping[str, str],
    *,
    depth: int = 5,
    least: float = 0.6,
) -> list[Candidate]:
    """Among the first `depth` chunks of each question those not annotated and alike by `least` at least."""
    found = []
    for question in questions:
        annotated = chunking.mapped(question.evidence).relevant
        wanted = _wanted(question, texts)
        for rank, chunk in enumerate(rankings.get(question.id, ())[:depth], 1):
            place = chunking.places[chunk]
            text = texts[place.document][place.start : place.end]
            likeness = max((len(words & _words(text)) / len(words) for words in wanted), default=0.0)
            if chunk not in annotated and likeness >= least:
                where = (place.document, place.start, place.end)
                found.append(Candidate(question.id, *where, rank, round(likeness, 3), text))
    return found


def write(found: Sequence[Candidate], path: Path) -> None:
    """A line each, to be gone through: `accept` becomes true, start and end may be narrowed."""
    path.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in found), "utf-8")


def accepted(path: Path, texts: Mapping[str, str]) -> dict[str, list[Span]]:
    """The places a person accepted, by question. Raises DatasetError."""
    found: dict[str, list[Span]] = {}
    for row in rows(path):
        document, start, end = row.id("document"), row.values.get("start"), row.values.get("end")
        if document not in texts:
            raise row.error(f"there is no document {document!r}")
        if (
            not isinstance(start, int)
            or not isinstance(end, int)
            or not 0 <= start < end <= len(texts[document])
        ):
            raise row.error(f"[{start}, {end}) is no place in document {document!r}")
        if row.flag("accept"):
            found.setdefault(row.id("question"), []).append(Span(document, start, end))
    return found


def extended(evidence: Mapping[str, Evidence], more: Mapping[str, Sequence[Span]]) -> dict[str, Evidence]:
    """The evidence with each accepted place as one more alternative."""
    return {one: (*paths, *((span,) for span in more.get(one, ()))) for one, paths in evidence.items()}


def _wanted(question: Annotated, texts: Mapping[str, str]) -> list[set[str]]:
    paths = [" ".join(texts[s.document][s.start : s.end] for s in path) for path in question.evidence]
    return [words for text in [*paths, question.reference_answer] if (words := _words(text))]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
