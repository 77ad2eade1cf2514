"""The questions of any set as they are put to a service, with what is known of their answers."""

from pathlib import Path

from evaluation import annotated, datasets, questions
from evaluation.datasets import Document
from evaluation.jsonl import DatasetError, rows
from evaluation.written import Asked


def is_answered(path: Path) -> bool:
    """Whether a file holds answers rather than questions. Raises DatasetError."""
    first = next(rows(path), None)
    return first is not None and "answer" in first.values


def of(path: Path, split: str = "") -> tuple[list[Asked], list[Document]]:
    """The questions of a file or a folder, and the folder's documents. Raises DatasetError."""
    if path.is_file():
        return [
            Asked(one.id, one.text, one.reference_answer, one.answerable) for one in questions.load(path)
        ], []
    if annotated.is_ours(path):
        ours = annotated.load(path)
        asked = [Asked(one.id, one.text, one.reference_answer, one.answerable) for one in ours.questions]
        return asked, ours.documents
    beir = datasets.load(path, split)
    texts = {document.id: document.text for document in beir.documents}
    asked = [Asked(one.id, one.text, _reference(one, texts), answerable=True) for one in beir.queries]
    if not any(one.reference for one in asked):
        raise DatasetError(path, 0, "has no answers to compare with")
    return asked, beir.documents


def _reference(query: datasets.Query, texts: dict[str, str]) -> str:
    """The first answer as its document has it; BEIR sets often give none."""
    return next((texts[span.document][span.start : span.end] for span in query.answers), "")
