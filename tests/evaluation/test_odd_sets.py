"""Data sets as hospitals really have them: saved on Windows, cut off, copied twice, counted from the end."""

import codecs
import json
from pathlib import Path

import pytest

from evaluation import annotated, datasets, mixed
from evaluation.datasets import Span
from evaluation.experts.plan import raters_from
from evaluation.jsonl import DatasetError
from tests.evaluation.tiny import beir, lines, ours

TEXTS = {"a": "Cysts are round.\nStones hurt.", "b": "Veins drain."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return beir(tmp_path / "set", TEXTS, {"What drains?": "b"})


def as_on_windows(path: Path) -> None:
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes().replace(b"\n", b"\r\n"))


def test_a_byte_order_mark_and_crlf_change_nothing(folder: Path) -> None:
    before = datasets.load(folder)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        as_on_windows(folder / name)
    after = datasets.load(folder)
    assert (after.documents, after.queries, after.qrels) == (before.documents, before.queries, before.qrels)


def test_our_layout_from_windows_is_the_same_set(tmp_path: Path) -> None:
    folder = ours(tmp_path / "ours")
    before = annotated.load(folder)
    for name in ("documents.jsonl", "questions.jsonl"):
        as_on_windows(folder / name)
    assert annotated.load(folder).questions == before.questions


@pytest.mark.parametrize("start", [-12, 999, 1])
def test_an_answer_that_does_not_stand_at_its_offset_is_counted_and_not_placed(
    folder: Path, start: int
) -> None:
    """-12 is the whole document when counted from its end, as Python would."""
    lines(folder / "queries.jsonl", [{"_id": "q0", "text": "?", "answer": TEXTS["b"], "answer_start": start}])
    found = datasets.load(folder)
    assert (found.misplaced_answers, found.queries[0].answers) == (1, ())


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("qrels.tsv", "q0\ta\t1\nq0\tb\t1\nq0\ta\t0\n", "qrels.tsv:3: 'q0' and 'a' were judged otherwise"),
        ("qrels.tsv", "q0\tb\tnan\n", "qrels.tsv:1: the score 'nan' is not a whole number"),
        ("qrels.tsv", "", "no query is judged"),
        ("queries.jsonl", '{"_id": "q0", "text": " "}', "queries.jsonl:1: the text of query 'q0' is empty"),
        ("queries.jsonl", '{"_id": "q0", "text": "\\ud800"}', ":1: text holds half of a surrogate"),
        ("queries.jsonl", '{"_id": "q0", "text": "?"}\n{"_id": "q0", "text": "?"}', ":2: the _id"),
        ("corpus.jsonl", '{"_id": "b", "text": NaN}', "corpus.jsonl:1: text is not a string"),
        ("queries.jsonl", '{"_id": "q0", "text": "?", "answer": "V", "answer_start": true}', ":1: an answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_named(folder: Path, name: str, text: str, said: str) -> None:
    write(folder, name, text)
    with pytest.raises(DatasetError) as caught:
        datasets.load(folder)
    assert said in str(caught.value)


def test_the_same_judgement_twice_is_one(folder: Path) -> None:
    write(folder, "qrels.tsv", "q0\tb\t1\nq0\tb\t1\n")
    assert datasets.load(folder).qrels == {"q0": {"b": 1}}


def test_a_set_without_judgements_is_named(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    with pytest.raises(DatasetError, match="none has judgements"):
        mixed.loaded(folder)


def test_judgements_that_are_not_utf_8_are_named(folder: Path) -> None:
    (folder / "qrels.tsv").write_bytes("q0\tб\t1".encode("cp1251"))
    with pytest.raises(DatasetError, match=r"qrels\.tsv: is not UTF-8"):
        datasets.load(folder)


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ({"start": 0, "end": 999}, r"\[0, 999\) is no place"),
        ({"start": -5, "end": -1}, r"\[-5, -1\) is no place"),
        ({"start": 5, "end": 5}, r"\[5, 5\) is no place"),
        ({"start": False, "end": True}, r"\[False, True\) is no place"),
        ({"start": 0.0, "end": 2.0}, r"\[0.0, 2.0\) is no place"),
        ({"start": float("nan"), "end": 2}, r"\[nan, 2\) is no place"),
        ({"quote": "It is not there."}, "the quote stands not in 'mr'"),
        ({"quote": ""}, "the quote stands not in 'mr'"),
    ],
)
def test_a_span_outside_its_document_is_named(tmp_path: Path, span: dict[str, object], said: str) -> None:
    folder = ours(tmp_path / "ours")
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    rows[1]["evidence"] = [[{"document": "mr"} | span]]
    lines(folder / "questions.jsonl", rows)
    with pytest.raises(DatasetError, match=rf"questions\.jsonl:2: evidence: .*{said}"):
        annotated.load(folder)


def test_offsets_count_in_the_file_and_move_with_its_line_ends(tmp_path: Path) -> None:
    folder = ours(tmp_path / "ours")
    lines(folder / "documents.jsonl", [{"id": "mr", "title": "", "text": "One.\r\nTwo.\r\nThree."}])
    question = json.loads((folder / "questions.jsonl").read_text().splitlines()[1])
    lines(
        folder / "questions.jsonl", [question | {"evidence": [[{"document": "mr", "start": 12, "end": 18}]]}]
    )
    found = annotated.load(folder)
    assert found.questions[0].evidence == ((Span("mr", 10, 16),),)
    assert found.texts["mr"][10:16] == "Three."


def test_raters_saved_in_another_code_page_are_named(tmp_path: Path) -> None:
    (tmp_path / "raters.csv").write_bytes("rater,department\nИванова,КТ\n".encode("cp1251"))
    with pytest.raises(DatasetError, match=r"cannot be read as CSV in UTF-8"):
        raters_from(tmp_path / "raters.csv")
