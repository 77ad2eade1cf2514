"""Reading BEIR folders: splits, answer spans, and errors that name file and line."""

import json
import unicodedata
from pathlib import Path

import pytest

from evaluation import datasets
from evaluation.datasets import Span
from evaluation.jsonl import DatasetError

SHARED = Path(__file__).parents[2] / "../shared/data"


def lines(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def qrels(path: Path, *rows: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents, two questions, one judged in each of the usual ways."""
    lines(
        tmp_path / "corpus.jsonl",
        {"_id": "a", "title": "Lens", "text": "The limit is 20 mSv."},
        {"_id": "b", "text": "Предел 20 мЗв в год."},
    )
    lines(tmp_path / "queries.jsonl", {"_id": "1", "text": "limit?"}, {"_id": 2, "text": "предел?"})
    qrels(tmp_path / "qrels.tsv", "1\ta\t1", "2\tb\t2")
    return tmp_path


def test_a_plain_folder_is_read_whole(folder: Path) -> None:
    found = datasets.load(folder)
    assert [document.id for document in found.documents] == ["a", "b"]
    assert found.documents[1].title == ""
    assert [query.id for query in found.queries] == ["1", "2"]
    assert found.qrels == {"1": {"a": 1}, "2": {"b": 2}}


def test_the_hash_changes_with_a_byte_of_any_file(folder: Path) -> None:
    before = datasets.load(folder).sha256
    qrels(folder / "qrels.tsv", "1\ta\t1", "2\tb\t1")
    assert datasets.load(folder).sha256 != before


def test_a_split_can_be_a_folder_that_borrows_the_corpus(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    lines(folder / "dev/queries.jsonl", {"_id": "9", "text": "?"})
    qrels(folder / "dev/qrels.tsv", "9\tb\t1")
    assert [query.id for query in datasets.load(folder, "dev").queries] == ["9"]
    assert datasets.load(folder / "dev").name == f"{folder.name}/dev"


def test_a_split_can_be_a_file_in_qrels(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    qrels(folder / "qrels/train.tsv", "1\ta\t1")
    qrels(folder / "qrels/test.tsv", "2\tb\t1")
    assert [query.id for query in datasets.load(folder, "train").queries] == ["1"]
    assert datasets.load(folder).split == "test"
    assert datasets.load(folder).unjudged_queries == 1


def test_a_split_can_be_a_field_of_the_queries(folder: Path) -> None:
    lines(
        folder / "queries.jsonl",
        {"_id": "1", "text": "limit?", "split": "train"},
        {"_id": "2", "text": "предел?", "split": "dev"},
    )
    assert [query.id for query in datasets.load(folder, "dev").queries] == ["2"]
    with pytest.raises(DatasetError, match="no split 'test', only: dev, train"):
        datasets.load(folder, "test")


def test_without_a_default_split_the_choices_are_named(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    qrels(folder / "en/qrels.tsv", "1\ta\t1")
    qrels(folder / "ru/qrels.tsv", "2\tb\t1")
    with pytest.raises(DatasetError, match="choose a split: en, ru"):
        datasets.load(folder)


def test_answers_become_spans_without_outer_white_space(folder: Path) -> None:
    lines(
        folder / "queries.jsonl",
        {"_id": "1", "text": "?", "answers": [{"text": " 20 mSv", "start": 12}]},
        {"_id": "2", "text": "?", "answer": "20 мЗв", "answer_start": 7},
    )
    first, second = datasets.load(folder).queries
    assert first.answers == (Span("a", 13, 19),)
    assert second.answers == (Span("b", 7, 13),)


def test_spans_move_with_normalisation(folder: Path) -> None:
    text = unicodedata.normalize("NFD", "Йод и йод\r\nдоза")
    lines(folder / "corpus.jsonl", {"_id": "a", "text": text}, {"_id": "b", "text": "x"})
    start = text.index("доза")
    lines(folder / "queries.jsonl", {"_id": "1", "text": "?", "answer": "доза", "answer_start": start})
    qrels(folder / "qrels.tsv", "1\ta\t1")
    found = datasets.load(folder)
    (span,) = found.queries[0].answers
    assert found.documents[0].text[span.start : span.end] == "доза"
    assert span.start < start


def test_an_answer_that_does_not_stand_there_is_counted_not_used(folder: Path) -> None:
    lines(folder / "queries.jsonl", {"_id": "1", "text": "?", "answer": "20 mSv", "answer_start": 3})
    qrels(folder / "qrels.tsv", "1\ta\t1")
    found = datasets.load(folder)
    assert found.queries[0].answers == ()
    assert found.misplaced_answers == 1


def test_an_answer_belongs_to_the_document_that_reads_so(folder: Path) -> None:
    """A question judged for a text and its translation has its answer in one of them."""
    lines(folder / "queries.jsonl", {"_id": "1", "text": "?", "answer": "20 мЗв", "answer_start": 7})
    qrels(folder / "qrels.tsv", "1\ta\t1", "1\tb\t2")
    found = datasets.load(folder)
    assert found.queries[0].answers == (Span("b", 7, 13),)
    assert found.misplaced_answers == 0


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "corpus.jsonl",
            '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}',
            "corpus.jsonl:2: the _id",
        ),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id": ', "corpus.jsonl:2: is not JSON"),
        ("corpus.jsonl", '{"_id": "a"}', "corpus.jsonl:1: text is not a string"),
        ("corpus.jsonl", '{"text": "x"}', "corpus.jsonl:1: _id is not a string"),
        ("corpus.jsonl", "[1]", "corpus.jsonl:1: is not a JSON object"),
        ("corpus.jsonl", "\n", "corpus.jsonl: has no documents"),
        (
            "queries.jsonl",
            '{"_id": "1", "text": "?", "answers": 3}',
            "queries.jsonl:1: answers is not",
        ),
        ("queries.jsonl", '{"_id": "1", "text": "?", "answers": [3]}', "queries.jsonl:1: an answer needs"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\n1\tz\t1", "qrels.tsv:2: the corpus has no document 'z'"),
        ("qrels.tsv", "9\ta\t1", "qrels.tsv:1: there is no query '9'"),
        ("qrels.tsv", "1\ta\tyes", "qrels.tsv:1: the score 'yes'"),
        ("qrels.tsv", "1 a 1", "qrels.tsv:1: has 1 columns"),
        ("qrels.tsv", "1\ta\t0", "qrels.tsv: no query is judged"),
    ],
)
def test_errors_name_file_and_line(folder: Path, file: str, text: str, message: str) -> None:
    if file == "queries.jsonl":
        qrels(folder / "qrels.tsv", "1\ta\t1")
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        datasets.load(folder)
    assert message in str(caught.value)


def test_bytes_that_are_not_utf_8_are_named(folder: Path) -> None:
    (folder / "corpus.jsonl").write_bytes(b'{"_id": "a", "text": "\xcf\xf0"}')
    with pytest.raises(DatasetError, match=r"corpus.jsonl:1: is not UTF-8"):
        datasets.load(folder)


def test_a_missing_file_and_a_missing_folder_are_named(folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"corpus.jsonl: is missing"):
        datasets.load(folder)
    with pytest.raises(DatasetError, match="is not a folder"):
        datasets.load(folder / "nowhere")


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not here")
@pytest.mark.parametrize(
    ("name", "split", "documents", "queries"),
    [
        ("scifact", "", 5183, 300),
        ("scifact", "train", 5183, 809),
        ("xquad_en_ru", "ru2ru", 240, 1190),
        ("rumeddanet", "", 2073, 1308),
        ("cranfield", "", 1400, 225),
        ("covidqa", "", 98, 1380),
    ],
)
def test_the_published_sets_have_their_published_sizes(
    name: str, split: str, documents: int, queries: int
) -> None:
    found = datasets.load(SHARED / name, split)
    assert (len(found.documents), len(found.queries)) == (documents, queries)
    assert found.misplaced_answers == 0
