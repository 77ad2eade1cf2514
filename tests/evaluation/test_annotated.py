"""Our own data sets: what is read, and what is refused by file, line and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation import annotated
from evaluation.datasets import Span
from evaluation.jsonl import DatasetError

TEXT = "# One\n\nThe dose is 20 mSv.\n\n# Two\n\nThe dose\nis 20 mSv. The  limit is 50 mSv."


def question(**changes: Any) -> dict[str, Any]:
    return {
        "id": "q", "topic": "safety", "language": "en", "complexity": 1, "question": "What dose?",
        "answerable": True, "reference_answer": "20 mSv", "section": "",
        "evidence": [[{"document": "d", "quote": "The limit is 50 mSv."}]],
    } | changes  # fmt: skip


def load(folder: Path, *questions: dict[str, Any]) -> annotated.AnnotatedSet:
    (folder / "documents.jsonl").write_text(json.dumps({"id": "d", "title": "T", "text": TEXT}))
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(one) for one in questions))
    return annotated.load(folder)


def test_quotes_and_offsets_are_places_in_the_document(tmp_path: Path) -> None:
    given = [[{"document": "d", "start": 7, "end": 27, "text": "The dose is  20 mSv."}], [
        {"document": "d", "quote": "The limit is 50 mSv."}, {"document": "d", "quote": "# Two"}]]  # fmt: skip
    found = load(tmp_path, question(evidence=given)).questions[0]
    (first,), (second, third) = found.evidence
    assert first == Span("d", 7, 27)
    assert TEXT[second.start : second.end] == "The  limit is 50 mSv."
    assert TEXT[third.start : third.end] == "# Two"
    assert (found.complexity, found.topic, found.answerable) == (1, "safety", True)


def test_a_section_tells_two_places_apart(tmp_path: Path) -> None:
    quote = [[{"document": "d", "quote": "The dose is 20 mSv."}]]
    found = load(tmp_path, question(evidence=quote, section="Two")).questions[0]
    assert found.evidence[0][0].start == TEXT.index("The dose\nis")
    with pytest.raises(DatasetError, match=r"questions.jsonl:1: .* stands 2 times in 'd'; give its start"):
        load(tmp_path, question(evidence=quote))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evidence": []}, "is answerable without evidence"),
        ({"answerable": False}, "has evidence without being answerable"),
        ({"complexity": 3}, "complexity is not 0, 1 or 2"),
        ({"complexity": True}, "complexity is not 0, 1 or 2"),
        ({"question": " "}, "question has not 1 to 2,000 characters"),
        ({"topic": 3}, "topic is not a string"),
        ({"evidence": [[]]}, "evidence is not a list of lists of spans"),
        ({"evidence": [["quote"]]}, "a span of evidence is not an object"),
        ({"evidence": [[{"document": "x", "quote": "a"}]]}, "there is no document 'x'"),
        ({"evidence": [[{"document": "d", "quote": "nowhere"}]]}, "the quote stands not in 'd'"),
        ({"evidence": [[{"document": "d", "start": 7, "end": 999}]]}, r"\[7, 999\) is no place"),
        ({"evidence": [[{"document": "d", "start": 5, "end": 7}]]}, "is blank"),
        ({"evidence": [[{"document": "d", "start": 7, "end": 12, "text": "dose"}]]}, "does not read so"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=f"questions.jsonl:1: .*{message}"):
        load(tmp_path, question(**changes))


def test_an_id_is_used_once_and_files_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r":2: the id 'q' was used before"):
        load(tmp_path, question(), question())
    (tmp_path / "questions.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"questions\.jsonl: is missing"):
        annotated.load(tmp_path)


def test_a_question_without_an_answer_is_one_too(tmp_path: Path) -> None:
    found = load(tmp_path, question(answerable=False, evidence=[]))
    assert (found.questions[0].answerable, found.questions[0].evidence) == (False, ())
