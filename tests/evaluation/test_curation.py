"""What looks relevant without being annotated, and what a person's decision does to the scores."""

import argparse
import json
from pathlib import Path

import pytest

from cli import evaluate
from cli.exits import Exit
from evaluation import curation
from evaluation.annotated import Annotated
from evaluation.datasets import Span
from evaluation.evidence import Chunk, Chunking
from evaluation.jsonl import DatasetError
from tests.cli.screens import out, pipe
from tests.evaluation.tiny import tokenizer

TEXT = "The dose limit is twenty. Weather was fine. The limit of dose is twenty a year."
CHUNKS = Chunking([Chunk(f"c{a}", Span("d", a, b)) for a, b in ((0, 25), (26, 43), (44, 79))], {"d": TEXT})
QUESTION = Annotated("q", "What is the limit?", ((Span("d", 0, 25),),))


def test_an_unannotated_chunk_with_the_same_words_is_a_candidate() -> None:
    found = curation.candidates([QUESTION], {"q": ["c26", "c44", "c0"]}, CHUNKS, {"d": TEXT})
    assert [(one.start, one.rank, one.likeness) for one in found] == [(44, 2, 1.0)]
    assert curation.candidates([QUESTION], {"q": ["c26", "c44"]}, CHUNKS, {"d": TEXT}, depth=1) == []


def test_only_what_a_person_accepted_becomes_an_alternative(tmp_path: Path) -> None:
    found = curation.candidates([QUESTION], {"q": ["c44"]}, CHUNKS, {"d": TEXT})
    path = tmp_path / "c.jsonl"
    curation.write(found, path)
    assert curation.accepted(path, {"d": TEXT}) == {}
    path.write_text(path.read_text().replace('"accept": false', '"accept": true'))
    more = curation.accepted(path, {"d": TEXT})
    assert curation.extended({"q": QUESTION.evidence}, more) == {
        "q": ((Span("d", 0, 25),), (Span("d", 44, 79),))
    }
    path.write_text(json.dumps({"question": "q", "document": "d", "start": 5, "end": 999, "accept": True}))
    with pytest.raises(DatasetError, match=r":1: \[5, 999\) is no place in document 'd'"):
        curation.accepted(path, {"d": TEXT})


async def test_scores_move_with_the_annotation_alone(tmp_path: Path) -> None:
    facts = [f"Organ{n % 20} measures {n % 20} millimetres in study {n}." for n in range(60)]
    rows = [
        {"id": str(n), "topic": "t", "language": "en", "question": f"How large is organ{n}?",
         "answerable": True, "evidence": [[{"document": "d", "quote": facts[n + 40]}]]}
        for n in range(20)
    ]  # fmt: skip
    (tmp_path / "documents.jsonl").write_text(json.dumps({"id": "d", "title": "", "text": "\n".join(facts)}))
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    path, screen = tmp_path / "c.jsonl", pipe()
    words = ["audit", str(tmp_path), "--tokens", "16", "--out", str(path), "--markdown"]
    around = {"RADRAG_EMBEDDER_TOKENIZER": str(tokenizer(tmp_path / "tokenizer"))}
    assert await evaluate.run(argparse.Namespace(words=words), screen, around) == Exit.OK
    before, after = (line.split("|")[2] for line in out(screen).splitlines()[-2:])
    assert float(before) < float(after)
    assert len(path.read_text().splitlines()) >= 20
