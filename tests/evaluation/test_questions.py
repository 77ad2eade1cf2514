"""Reading our own question sets."""

import json
from pathlib import Path

import pytest

from evaluation import questions
from evaluation.jsonl import DatasetError
from evaluation.questions import Quote

GOOD = {
    "id": "q1",
    "topic": "safety",
    "language": "ru",
    "question": "Каков предел дозы для хрусталика?",
    "answerable": True,
    "reference_answer": "20 мЗв в год",
    "documents": ["icrp"],
    "evidence": [[{"document": "icrp", "quote": "20 mSv", "section": "Lens"}]],
    "complexity": 1,
    "cross_language": True,
}


def written(folder: Path, *rows: object) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_question_is_read_with_its_evidence(tmp_path: Path) -> None:
    (question,) = questions.load(written(tmp_path, GOOD))
    assert question.evidence == ((Quote("icrp", "20 mSv", "Lens"),),)
    assert (question.complexity, question.cross_language, question.language) == (1, True, "ru")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answerable": False}, "has evidence, yet is not answerable"),
        ({"evidence": []}, "needs evidence"),
        ({"evidence": [[]]}, "evidence is not a list of lists"),
        ({"evidence": [[{"document": "icrp"}]]}, "quote is not a string"),
        ({"evidence": [[{"document": "icrp", "quote": " "}]]}, "a quote is empty"),
        ({"evidence": [["20 mSv"]]}, "a quote is not an object"),
        ({"question": "x" * 2001}, "question has not 1 to 2,000 characters"),
        ({"complexity": 3}, "complexity is not 0, 1 or 2"),
        ({"answerable": "yes"}, "answerable is not true or false"),
        ({"id": ""}, "id is not a string"),
    ],
)
def test_a_wrong_question_is_named_by_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        questions.load(written(tmp_path, GOOD | {"id": "q0"}, GOOD | change))
    assert f"questions.jsonl:2: {message}" in str(caught.value)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="q1"):
        questions.load(written(tmp_path, GOOD, GOOD))
