"""Our own data sets: a folder of documents.jsonl and questions.jsonl with evidence on the documents.

documents.jsonl: id, title, text. questions.jsonl: id, topic, language, complexity (0, 1, 2), question,
reference_answer, answerable, section, and evidence: a list of alternatives (any is enough), each a list of
spans (all are needed), each {document, start, end, text} or {document, quote}. Offsets are code points of the
text as it stands in documents.jsonl; a quote must stand there once, or once below the question's section.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.datasets import Dataset, Document, Query, Span, canonical
from evaluation.evidence import Evidence
from evaluation.jsonl import DatasetError, Row, rows
from evaluation.normalised import Normalised

DOCUMENTS, QUESTIONS = "documents.jsonl", "questions.jsonl"


@dataclass(frozen=True)
class Annotated:
    """A question with its evidence; without any when the documents cannot answer it."""

    id: str
    text: str
    evidence: Evidence
    topic: str = ""
    language: str = ""
    complexity: int = 0
    reference_answer: str = ""
    section: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the documents hold an answer."""
        return bool(self.evidence)


@dataclass(frozen=True)
class AnnotatedSet:
    """Documents and questions, and the hash of the files."""

    name: str
    documents: list[Document]
    questions: list[Annotated]
    sha256: str

    @property
    def texts(self) -> dict[str, str]:
        """Each document's text by its id."""
        return {document.id: document.text for document in self.documents}


def is_ours(folder: Path) -> bool:
    """Whether a folder has this layout rather than BEIR's."""
    return (folder / DOCUMENTS).exists()


def load(folder: Path) -> AnnotatedSet:
    """Reads a data set of this layout. Raises DatasetError naming file, line and field."""
    paths = (folder / DOCUMENTS, folder / QUESTIONS)
    raw = {document.id: document for document in _documents(paths[0])}
    texts = {one: Normalised.of(document.text) for one, document in raw.items()}
    questions: dict[str, Annotated] = {}
    for row in rows(paths[1]):
        question = _question(row, raw, texts)
        if question.id in questions:
            raise row.error(f"the id {question.id!r} was used before")
        questions[question.id] = question
    if not questions:
        raise DatasetError(paths[1], 0, "has no questions")
    digest = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths))
    documents = [Document(one.id, canonical(one.title), canonical(one.text)) for one in raw.values()]
    return AnnotatedSet(folder.resolve().name, documents, list(questions.values()), digest.hexdigest())


def as_dataset(found: AnnotatedSet) -> Dataset:
    """The set as retrieval is measured on it: the answerable questions, their evidence's documents as truth.

    Raises DatasetError when none is answerable.
    """
    asked = [question for question in found.questions if question.answerable]
    if not asked:
        raise DatasetError(Path(found.name), 0, "has no answerable question")
    return Dataset(
        name=found.name,
        split="",
        documents=found.documents,
        queries=[Query(one.id, one.text, (), one.evidence, _groups(one)) for one in asked],
        qrels={one.id: {span.document: 1 for path in one.evidence for span in path} for one in asked},
        sha256=found.sha256,
        unjudged_queries=len(found.questions) - len(asked),
    )


def _groups(one: Annotated) -> tuple[tuple[str, str], ...]:
    named = (("topic", one.topic), ("language", one.language), ("complexity", str(one.complexity)))
    return tuple((kind, value) for kind, value in named if value)


def of_beir(dataset: Dataset) -> AnnotatedSet:
    """A BEIR set whose queries have answers: each answer is an alternative of one span."""
    questions = [Annotated(q.id, q.text, tuple((span,) for span in q.answers)) for q in dataset.queries]
    if not any(question.evidence for question in questions):
        raise DatasetError(Path(dataset.name), 0, "no query has answers with their places")
    return AnnotatedSet(dataset.name, dataset.documents, questions, dataset.sha256)


def _documents(path: Path) -> list[Document]:
    found: dict[str, Document] = {}
    for row in rows(path):
        one = Document(row.id("id"), row.text("title", ""), row.text("text"))
        if one.id in found:
            raise row.error(f"the id {one.id!r} was used before")
        found[one.id] = one
    if not found:
        raise DatasetError(path, 0, "has no documents")
    return list(found.values())


def _question(row: Row, raw: Mapping[str, Document], texts: Mapping[str, Normalised]) -> Annotated:
    section, text = row.text("section", ""), row.text("question")
    if not text.strip() or len(text) > 2000:
        raise row.error("question has not 1 to 2,000 characters")
    evidence = tuple(
        tuple(_span(_inner(row, span), section, raw, texts) for span in _path(row, path))
        for path in row.list("evidence")
    )
    if row.flag("answerable") != bool(evidence):
        raise row.error("is answerable without evidence, or has evidence without being answerable")
    return Annotated(
        id=row.id("id"),
        text=text,
        evidence=evidence,
        topic=row.text("topic"),
        language=row.text("language"),
        complexity=_complexity(row),
        reference_answer=row.text("reference_answer", ""),
        section=section,
    )


def _path(row: Row, path: object) -> list[object]:
    if not isinstance(path, list) or not path:
        raise row.error("evidence is not a list of lists of spans")
    return path


def _inner(row: Row, span: object) -> Row:
    if not isinstance(span, Mapping):
        raise row.error("a span of evidence is not an object")
    return Row(row.file, row.line, dict(span))


def _span(span: Row, section: str, raw: Mapping[str, Document], texts: Mapping[str, Normalised]) -> Span:
    name = span.id("document")
    if name not in raw:
        raise span.error(f"evidence: there is no document {name!r}")
    places = _given(span, raw[name]) if "start" in span.values else _quoted(span, section, texts[name])
    start, end = (len(canonical(raw[name].text[:place])) for place in places)
    return Span(name, start, end)


def _given(span: Row, document: Document) -> tuple[int, int]:
    given = span.values.get("start"), span.values.get("end")
    start, end = (None if isinstance(one, bool) else one for one in given)  # true is 1 to Python
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(document.text):
        raise span.error(f"evidence: [{given[0]}, {given[1]}) is no place in document {document.id!r}")
    reads, wanted = document.text[start:end], span.text("text", "")
    if wanted and Normalised.of(reads).text.strip() != Normalised.of(wanted).text.strip():
        raise span.error(f"evidence: document {document.id!r} does not read so at [{start}, {end})")
    if not reads.strip():
        raise span.error(f"evidence: [{start}, {end}) of document {document.id!r} is blank")
    return start, end


def _quoted(span: Row, section: str, text: Normalised) -> tuple[int, int]:
    places = text.find(span.text("quote"))
    if len(places) > 1 and section:
        below = [start for start, _ in text.find(section)]
        places = [place for place in places if below and place[0] >= below[0]][:1]
    if len(places) != 1:
        said = "not" if not places else f"{len(places)} times"
        raise span.error(f"evidence: the quote stands {said} in {span.values['document']!r}; give its start")
    return places[0]


def _complexity(row: Row) -> int:
    value = row.values.get("complexity", 0)
    if isinstance(value, bool) or not isinstance(value, int) or value not in {0, 1, 2}:
        raise row.error("complexity is not 0, 1 or 2")
    return value
