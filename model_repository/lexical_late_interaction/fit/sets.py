"""The public question sets that the reranker is fitted and measured on, each as passages, questions and
what answers what."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from sample_parents import Section, sections
from sentences import sentences

# Paragraphs of at most so many tokens are one window: reading them costs nothing new for each question.
SHORT = 246

Row = dict[str, object]


class Set(NamedTuple):
    """passages and questions by id; answers: the ids of the passages that answer each question. whole: let
    the encoder read passages whole, so that each is read once and not anew for every question."""

    name: str
    passages: dict[str, str]
    questions: dict[str, str]
    answers: dict[str, set[str]]
    whole: bool = False


def scifact(data: Path, split: str) -> Set:
    """Claims against whole abstracts."""
    folder = data / "scifact"
    passages = {str(row["_id"]): f"{row['title']}\n{row['text']}" for row in rows(folder / "corpus.jsonl")}
    answers = judged(folder / split / "qrels.tsv")
    asked = {str(row["_id"]): str(row["text"]) for row in rows(folder / split / "queries.jsonl")}
    return Set(f"scifact {split}", passages, {key: asked[key] for key in asked if key in answers}, answers)


def rumeddanet(data: Path, split: str) -> Set:
    """Russian yes/no questions against the passage each was written from."""
    folder = data / "rumeddanet"
    passages = {str(row["_id"]): str(row["text"]) for row in rows(folder / "corpus.jsonl")}
    answers = judged(folder / "qrels.tsv")
    asked = [row for row in rows(folder / "queries.jsonl") if row["split"] == split and row["_id"] in answers]
    questions = {str(row["_id"]): str(row["text"]) for row in asked}
    return Set(f"rumeddanet {split}", passages, questions, answers)


def xquad(data: Path, tokens: Callable[[str], int], asked: str, read: str, odd: bool) -> Set:
    """Questions in language `asked` against the paragraphs in `read` that the encoder reads whole; articles
    in turn go to either half."""
    paragraphs = rows(data / "xquad_en_ru" / f"{read}2{read}" / "corpus.jsonl")
    passages = {str(row["_id"]): str(row["text"]) for row in paragraphs}
    short = {key: text for key, text in passages.items() if tokens(text) <= SHORT}
    half = articles(data, odd)
    questions = rows(data / "xquad_en_ru" / f"{asked}2{asked}" / "queries.jsonl")
    kept = [row for row in questions if row["para"] in half and f"{read}-{row['para']}" in short]
    answers = {str(row["_id"]): {f"{read}-{row['para']}"} for row in kept}
    return Set(f"xquad {asked}→{read}", short, {str(row["_id"]): str(row["text"]) for row in kept}, answers)


def mixed(data: Path, tokens: Callable[[str], int], asked: str, read: str, odd: bool) -> Set:
    """As `xquad`, among paragraphs of the other half in the language that does not hold the answer."""
    part = xquad(data, tokens, asked, read, odd)
    others = xquad(data, tokens, asked, "en" if read == "ru" else "ru", odd)
    half = articles(data, odd)
    passages = {key: text for key, text in part.passages.items() if key[3:] in half}
    passages |= {key: text for key, text in others.passages.items() if key[3:] not in half}
    return part._replace(name=f"{part.name} among both", passages=passages)


def calibration(root: Path, tokenizer: Path) -> Set:
    """The samples' calibration questions that have an answer, against the sample knowledge base."""
    parents = dict(enumerate(sections(tokenizer)))
    asked = {str(row["id"]): row for row in rows(root / "samples" / "calibration.jsonl") if row["answerable"]}
    answers = {
        key: {str(place) for place, one in parents.items() if evident(row, one)} for key, row in asked.items()
    }
    return Set(
        "samples",
        {str(place): f"{one.above}\n{one.text}" for place, one in parents.items()},
        {key: str(row["question"]) for key, row in asked.items()},
        answers,
        whole=True,
    )


def evident(row: Row, section: Section) -> bool:
    """Whether the section holds a piece of the evidence."""
    ways = row["evidence"]
    assert isinstance(ways, list)
    text = " ".join(section.text.split())
    return any(
        quote["document"] == section.document and quote["quote"] in text for way in ways for quote in way
    )


def articles(data: Path, odd: bool) -> set[str]:
    """The paragraphs of every other article."""
    paragraphs = list(rows(data / "xquad_en_ru" / "en2en" / "corpus.jsonl"))
    order = list(dict.fromkeys(str(row["article"]) for row in paragraphs))
    half = set(order[odd::2])
    return {str(row["_id"])[3:] for row in paragraphs if row["article"] in half}


def covidqa(data: Path, tokens: Callable[[str], int], odd: bool) -> Set:
    """Questions against pieces of long papers; a piece answers that holds the whole answer. Papers in turn go
    to either half; questions whose answer lies across a cut are left out."""
    papers = {str(row["_id"]): str(row["text"]) for row in rows(data / "covidqa" / "corpus.jsonl")}
    spans = {paper: list(packed(text, tokens)) for paper, text in papers.items()}
    passages = {f"{paper}:{a}": papers[paper][a:b] for paper in papers for a, b in spans[paper]}
    half = set(list(papers)[odd::2])
    paper_of = {question: paper for question, (paper, *_) in judged(data / "covidqa" / "qrels.tsv").items()}
    questions: dict[str, str] = {}
    answers: dict[str, set[str]] = {}
    for row in rows(data / "covidqa" / "queries.jsonl"):
        question, paper = str(row["_id"]), paper_of[str(row["_id"])]
        holding = {
            f"{paper}:{a}" for a, b in spans[paper] if any(a <= x and y <= b for x, y in answered(row))
        }
        if paper in half and holding:
            questions[question], answers[question] = str(row["text"]), holding
    return Set("covidqa", passages, questions, answers)


def answered(row: Row) -> Iterator[tuple[int, int]]:
    """Where a covidqa question's answers stand, their white space trimmed."""
    answers = row["answers"]
    assert isinstance(answers, list)
    for answer in answers:
        text = str(answer["text"])
        start = int(answer["start"]) + len(text) - len(text.lstrip())
        yield start, start + len(text.strip())


def packed(text: str, tokens: Callable[[str], int], most: int = 250) -> Iterator[tuple[int, int]]:
    """Whole sentences put together to pieces of at most `most` tokens, where a sentence is no longer."""
    start, end = 0, 0
    for a, b in sentences(text):
        if end > start and tokens(text[start:b]) > most:
            yield start, end
            start = a
        end = b
    yield start, end


def rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def judged(path: Path) -> dict[str, set[str]]:
    """qrels: question → the documents judged above 0."""
    answers: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        question, document, score = line.split("\t")
        if int(score) > 0:
            answers.setdefault(question, set()).add(document)
    return answers
