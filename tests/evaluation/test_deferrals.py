"""Gates are judged on questions they should stop and on questions they should not."""

import json
from pathlib import Path

import pytest

from evaluation import deferrals
from evaluation.deferrals import Asked, Count, Judged
from evaluation.jsonl import DatasetError


def written(file: Path, *rows: dict[str, str]) -> Path:
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


def test_a_set_may_be_a_retrieval_sets_queries_or_questions_with_gates(tmp_path: Path) -> None:
    file = written(
        tmp_path / "s.jsonl",
        {"question": "Weather?", "gate": "non_medical"},
        {"_id": "1", "text": "Dose?"},
        {"title": "What is it?", "_id": "2"},
    )
    assert deferrals.load(file) == [Asked("Weather?", "non_medical"), Asked("Dose?"), Asked("What is it?")]


def test_a_sample_is_the_same_every_time(tmp_path: Path) -> None:
    file = written(tmp_path / "s.jsonl", *({"text": str(number)} for number in range(50)))
    assert len(deferrals.load(file, 10)) == 10
    assert deferrals.load(file, 10) == deferrals.load(file, 10)


def test_a_row_without_a_question_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="1"):
        deferrals.load(written(tmp_path / "s.jsonl", {"_id": "1"}))


def test_each_gate_and_ours_have_a_row() -> None:
    judged = [
        Judged("", "", ""), Judged("", "", "dosing"), Judged("dosing", "dosing", "dosing"),
        Judged("dosing", "", "non_medical"),
    ]  # fmt: skip
    assert deferrals.counted("set", judged) == [
        Count("set ours", 2, 0, 1, 1),
        Count("set dosing", 2, 1, 2, 2),
    ]
