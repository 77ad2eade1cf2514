"""Several data sets as one, so that each can be a topic of its own: fusion across topics is chosen on these.

Ids get their set's name in front. One set's questions may be answered by another's documents, which nobody
judged: a mixed set says how configurations compare, not how good one is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from evaluation import annotated, datasets
from evaluation.datasets import Dataset, Document, Query, Span
from evaluation.jsonl import DatasetError


def loaded(folder: Path, split: str = "") -> Dataset:
    """A data set in BEIR's layout or in ours. Raises DatasetError."""
    if annotated.is_ours(folder):
        return annotated.as_dataset(annotated.load(folder))
    return datasets.load(folder, split)


def sets_below(folder: Path) -> list[Path]:
    """The folder itself when it is a data set, else every data set below it. Raises DatasetError for none."""
    if not folder.is_dir():
        raise DatasetError(folder, 0, "is not a folder")
    found = _below(folder)
    if not found:
        raise DatasetError(folder, 0, "holds no data set: no corpus.jsonl and no documents.jsonl")
    return found


def _below(folder: Path) -> list[Path]:
    if annotated.is_ours(folder) or (folder / "corpus.jsonl").is_file():
        return [folder]
    return [found for inner in sorted(folder.iterdir()) if inner.is_dir() for found in _below(inner)]


def mixed(sets: Sequence[Dataset]) -> Dataset:
    """The sets as one, every document marked with its set. Raises DatasetError for one given twice."""
    names = [" ".join(part for part in (one.name, one.split) if part) for one in sets]
    for name in names:
        if names.count(name) > 1:
            raise DatasetError(Path(name), 0, "is given twice")
    parts = [_marked(one, name) for one, name in zip(sets, names, strict=True)]
    return Dataset(
        name=" + ".join(names),
        split="",
        documents=[document for part in parts for document in part.documents],
        queries=[query for part in parts for query in part.queries],
        qrels={query: grades for part in parts for query, grades in part.qrels.items()},
        sha256=sha256("".join(one.sha256 for one in sets).encode()).hexdigest(),
        unjudged_queries=sum(one.unjudged_queries for one in sets),
        misplaced_answers=sum(one.misplaced_answers for one in sets),
    )


def by_part(documents: Sequence[Document], topics: Sequence[str]) -> Mapping[str, str]:
    """A topic for each document id: the first set's is the first. Raises DatasetError for too few topics."""
    parts = list(dict.fromkeys(document.part for document in documents))
    if len(parts) > len(topics):
        raise DatasetError(Path(parts[-1]), 0, f"{len(parts)} sets are more than {len(topics)} topics")
    topic_of = dict(zip(parts, topics, strict=False))
    return {document.id: topic_of[document.part] for document in documents}


def _marked(one: Dataset, name: str) -> Dataset:
    def marked(key: str) -> str:
        return f"{name}/{key}"

    def moved(span: Span) -> Span:
        return replace(span, document=marked(span.document))

    def asked(query: Query) -> Query:
        return Query(
            marked(query.id),
            query.text,
            tuple(map(moved, query.answers)),
            tuple(tuple(map(moved, path)) for path in query.evidence),
            (("set", name), *query.groups),
        )

    return replace(
        one,
        documents=[replace(document, id=marked(document.id), part=name) for document in one.documents],
        queries=[asked(query) for query in one.queries],
        qrels={marked(query): {marked(d): g for d, g in by.items()} for query, by in one.qrels.items()},
    )
