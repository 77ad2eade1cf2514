"""Retrieval data sets in BEIR's layout: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/*.tsv.

A split is a folder inside the data set, a file in `qrels/`, or a value of the queries' `split` field. Texts
are read as the product stores them (NFC, `\\n`), and answer offsets move with them.
"""

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.jsonl import DatasetError, Row, rows


@dataclass(frozen=True)
class Document:
    """A document of a corpus. `text` is NFC with `\\n` line ends; the title may be empty."""

    id: str
    title: str
    text: str
    part: str = ""  # the set it came from, where several are mixed


@dataclass(frozen=True)
class Span:
    """Code points [start, end) of a document's text."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class Query:
    """A question; `answers` are places any one of which answers it (none where the set gives none).

    `evidence` says more where an answer needs several places: alternatives, each the places it needs.
    `groups` are what results are told apart by: set, topic, language, complexity.
    """

    id: str
    text: str
    answers: tuple[Span, ...] = ()
    evidence: tuple[tuple[Span, ...], ...] = ()
    groups: tuple[tuple[str, str], ...] = ()

    @property
    def paths(self) -> tuple[tuple[Span, ...], ...]:
        """The evidence as alternatives, whichever way the set gives it."""
        return self.evidence or tuple((span,) for span in self.answers)


@dataclass(frozen=True)
class Dataset:
    """A data set: only judged queries, grades by query and document, and what was left out in reading."""

    name: str
    split: str
    documents: list[Document]
    queries: list[Query]
    qrels: dict[str, dict[str, int]]
    sha256: str
    unjudged_queries: int = 0
    misplaced_answers: int = 0


@dataclass(frozen=True)
class Files:
    """The three files of a data set; `field` chooses queries by their `split` field, unless empty."""

    corpus: Path
    queries: Path
    qrels: Path
    split: str
    field: str = ""

    def sha256(self) -> str:
        """One hash over the bytes of the three files."""
        digests = [
            hashlib.sha256(path.read_bytes()).digest() for path in (self.corpus, self.queries, self.qrels)
        ]
        return hashlib.sha256(b"".join(digests)).hexdigest()


def load(folder: Path, split: str = "") -> Dataset:
    """Reads a data set, or one split of it. Raises DatasetError."""
    files = find(folder, split)
    raw = _documents(files.corpus)  # as the file has them: the answers' offsets count there
    every = _queries(files)
    qrels = _qrels(files.qrels, raw, every)
    chosen = _of_split(every, files)
    queries, misplaced = [], 0
    for one in chosen:
        if one in qrels:
            answers = [_places(answer, qrels[one], raw) for answer in _answers(every[one])]
            misplaced += sum(not places for places in answers)
            text = canonical(every[one].text("text"))
            queries.append(Query(one, text, tuple(span for places in answers for span in places)))
    if not queries:
        raise DatasetError(files.qrels, 0, "no query is judged")
    documents = [Document(d.id, canonical(d.title), canonical(d.text)) for d in raw.values()]
    judged = {query.id: qrels[query.id] for query in queries}
    left_out = len(chosen) - len(queries)
    name = _name(folder, files)
    return Dataset(name, files.split, documents, queries, judged, files.sha256(), left_out, misplaced)


def find(folder: Path, split: str = "") -> Files:
    """The files of a split; without one, of the only judgements, or of `test`. Raises DatasetError."""
    if not folder.is_dir():
        raise DatasetError(folder, 0, "is not a folder")
    places, whole = _judgements(folder), folder / "qrels.tsv"
    if not split and not whole.exists():
        split = "test" if "test" in places else next(iter(places)) if len(places) == 1 else ""
    if split not in places and not whole.exists():
        raise DatasetError(folder, 0, f"choose a split: {', '.join(sorted(places)) or 'none has judgements'}")
    qrels = places.get(split, whole)
    corpus = _nearest(folder, qrels.parent, "corpus.jsonl")
    queries = _nearest(folder, qrels.parent, "queries.jsonl")
    return Files(corpus, queries, qrels, split, split if qrels == whole else "")


def canonical(text: str) -> str:
    """The text as the product stores it: NFC, `\\n` line ends."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def _judgements(folder: Path) -> dict[str, Path]:
    inner = {path.parent.name: path for path in folder.glob("*/qrels.tsv")}
    return inner | {path.stem: path for path in folder.glob("qrels/*.tsv")}


def _nearest(folder: Path, inner: Path, name: str) -> Path:
    for place in (inner, folder, folder.parent):
        if (place / name).is_file():
            return place / name
    raise DatasetError(folder / name, 0, "is missing")


def _name(folder: Path, files: Files) -> str:
    here = folder.resolve()
    # A split's own folder borrows its parent's corpus: both names say what it is.
    return here.name if files.corpus.is_relative_to(folder) else f"{here.parent.name}/{here.name}"


def _documents(path: Path) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for row in rows(path):
        one = row.id("_id")
        if one in documents:
            raise row.error(f"the _id {one!r} was used before")
        documents[one] = Document(one, row.text("title", ""), row.text("text"))
    if not documents:
        raise DatasetError(path, 0, "has no documents")
    return documents


def _queries(files: Files) -> dict[str, Row]:
    queries: dict[str, Row] = {}
    for row in rows(files.queries):
        one = row.id("_id")
        if one in queries:
            raise row.error(f"the _id {one!r} was used before")
        if not row.text("text").strip():
            raise row.error(f"the text of query {one!r} is empty")
        queries[one] = row
    return queries


def _of_split(queries: Mapping[str, Row], files: Files) -> list[str]:
    chosen = [
        one for one, row in queries.items() if not files.field or row.values.get("split") == files.field
    ]
    if not chosen:
        known = sorted({str(row.values["split"]) for row in queries.values() if "split" in row.values})
        raise DatasetError(
            files.queries, 0, f"has no split {files.field!r}, only: {', '.join(known) or 'none'}"
        )
    return chosen


def _qrels(
    path: Path, documents: Mapping[str, Document], queries: Mapping[str, Row]
) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line, text in enumerate(_lines(path), 1):
        if not text.strip() or (line == 1 and text.startswith("query-id")):
            continue
        query, document, grade = _judgement(path, line, text)
        if document not in documents:
            raise DatasetError(path, line, f"the corpus has no document {document!r}")
        if query not in queries:
            raise DatasetError(path, line, f"there is no query {query!r}")
        if found.setdefault(query, {}).setdefault(document, grade) != grade:
            raise DatasetError(path, line, f"{query!r} and {document!r} were judged otherwise before")
    return {query: grades for query, grades in found.items() if max(grades.values()) > 0}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise DatasetError(path, 0, "is not UTF-8") from None


def _judgement(path: Path, line: int, text: str) -> tuple[str, str, int]:
    parts = text.rstrip("\r").split("\t")
    if len(parts) != 3:
        raise DatasetError(path, line, f"has {len(parts)} columns, not query-id, corpus-id, score")
    try:
        return parts[0], parts[1], int(parts[2])
    except ValueError:
        raise DatasetError(path, line, f"the score {parts[2]!r} is not a whole number") from None


def _answers(row: Row) -> Iterator[tuple[str, int]]:
    """SQuAD's two shapes: `answers` [{text, start}], or one `answer` with its `answer_start`."""
    one = {"text": row.values.get("answer"), "start": row.values.get("answer_start")}
    for answer in [one] if "answer_start" in row.values else row.list("answers"):
        text, start = (answer.get("text"), answer.get("start")) if isinstance(answer, dict) else (None, None)
        if not isinstance(text, str) or isinstance(start, bool) or not isinstance(start, int):
            raise row.error("an answer needs text (a string) and start (a whole number)")
        yield text, start


def _places(answer: tuple[str, int], grades: Mapping[str, int], raw: Mapping[str, Document]) -> list[Span]:
    """Where the right documents read as the answer does, at its offset: none when the offset is wrong."""
    right = (raw[document] for document, grade in grades.items() if grade > 0)
    return [_span(document, *answer) for document in right if _reads(document, *answer)]


def _reads(document: Document, answer: str, start: int) -> bool:
    # From 0: a negative offset would count from the end.
    return start >= 0 and bool(answer.strip()) and document.text[start : start + len(answer)] == answer


def _span(document: Document, answer: str, start: int) -> Span:
    left = start + len(answer) - len(answer.lstrip())
    before, until = document.text[:left], document.text[: left + len(answer.strip())]
    return Span(document.id, len(canonical(before)), len(canonical(until)))
