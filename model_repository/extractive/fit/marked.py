"""Public question sets whose answers are marked in the text: xquad in four pairs of languages, covidqa."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from prompt import Source
from sentences import sentences

PAIRS = (("en", "en"), ("ru", "ru"), ("en", "ru"), ("ru", "en"))
# Of each xquad question so many pairs; of covidqa so many questions, whose papers are read around the answer.
PAIRS_EACH, PAPERS_QUESTIONS, LONGEST_PART = 2, 600, 2_500
AROUND = 4


class Marked(NamedTuple):
    """A question, its sources, and whether a source's text[start:end] answers it: (number, start, end)."""

    id: str
    question: str
    answerable: bool
    sources: list[Source]
    answers: Callable[[int, int, int], bool]


def xquad(data: Path) -> Iterator[Marked]:
    folder, draw = data / "xquad_en_ru", random.Random(11)  # noqa: S311 - a choice that can be made again
    asked, told = (
        {one: {row["_id"][3:]: row for row in rows(folder / f"{one}2{one}" / file)} for one in ("en", "ru")}
        for file in ("queries.jsonl", "corpus.jsonl")
    )
    for number in sorted(asked["en"].keys() & asked["ru"].keys()):
        for question, text in draw.sample(PAIRS, PAIRS_EACH):
            answer = asked[text][number]
            source = Source(0, "", "", "", told[text][answer["para"]]["text"])
            start = answer["answer_start"]
            holding = overlapping(start, start + len(answer["answer"]))
            row = asked[question][number]
            yield Marked(f"xquad-{number}-{question}-{text}", row["text"], True, [source], holding)


def covidqa(data: Path) -> Iterator[Marked]:
    folder, draw = data / "covidqa", random.Random(11)  # noqa: S311 - a choice that can be made again
    papers = {row["_id"]: row for row in rows(folder / "corpus.jsonl")}
    judged = [line.split("\t") for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]]
    paper_of = {question: paper for question, paper, _ in judged}
    asked = [row for row in rows(folder / "queries.jsonl") if row["_id"] in paper_of]
    for row in draw.sample(asked, min(PAPERS_QUESTIONS, len(asked))):
        paper = papers[paper_of[row["_id"]]]
        text, answer = paper["text"], row["answers"][0]
        start = answer["start"] + len(answer["text"]) - len(answer["text"].lstrip())
        end = answer["start"] + len(answer["text"].rstrip())
        low, high = part(text, start, end, draw)
        if high - low <= LONGEST_PART:
            source = Source(0, paper.get("title") or "", "", "", text[low:high])
            holding = overlapping(start - low, end - low)
            yield Marked(f"covidqa-{row['_id']}", row["text"], True, [source], holding)


def part(text: str, start: int, end: int, draw: random.Random) -> tuple[int, int]:
    """The answer's sentences and up to AROUND more on either side."""
    spans = list(sentences(text))
    touched = [place for place, (a, b) in enumerate(spans) if a < end and start < b]
    first = max(0, touched[0] - draw.randint(1, AROUND))
    last = min(len(spans) - 1, touched[-1] + draw.randint(1, AROUND))
    return spans[first][0], spans[last][1]


def overlapping(low: int, high: int) -> Callable[[int, int, int], bool]:
    """Whether more than half of the shorter of statement and answer lies in the other."""

    def holds(_: int, start: int, end: int) -> bool:
        return min(end, high) - max(start, low) > 0.5 * min(end - start, high - low)

    return holds


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
