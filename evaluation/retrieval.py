"""A data set through the product's own parts: cut, embedded, indexed, asked, ranked five ways and scored.

The parts are given (`Product`); the store behind them is this run's alone, never the served knowledge base.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evaluation import measures, mixed, topics
from evaluation.bounded import Progress, each, silent
from evaluation.datasets import Dataset, Document, Query
from evaluation.passages import Corpus, Parent
from evaluation.ranking import FUSIONS, LEGS, Fuse, Legs, Ranking, Rerank, by_fusion, by_leg, reranked
from evaluation.scoring import Rankings, Rows, Values, ceiling, grouped, means, valued

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Indexed:
    """A document ready for the index: its parents and, for each, one vector per child [children, dim]."""

    document: Document
    topic: str
    parents: list[Parent]
    vectors: list[Vectors]


@dataclass(frozen=True)
class Product:
    """What the product lends: its chunker, models, index and fusion, as plain callables."""

    chunk: Callable[[Document], Sequence[Parent]]
    embed: Callable[[Document, Parent], Awaitable[Vectors]]
    embed_question: Callable[[str], Awaitable[Vectors]]
    index: Callable[[Sequence[Indexed]], Awaitable[None]]
    search: Callable[[str, Vectors], Awaitable[Legs]]
    fuse: Fuse
    rerank: Rerank | None


@dataclass(frozen=True)
class Plan:
    """How a run is done. Topics after the first are used when `split_topics` spreads the documents, or when
    the data set is a mixed one: then each of its sets has a topic."""

    topics: tuple[str, ...]
    split_topics: str = ""  # hash, kmeans, or empty: all in one collection
    limit: int = 0  # questions asked, of each set; 0 is all of them
    candidates: int = 13
    fusion: str = "global"  # the one whose best candidates are reranked
    contexts: int = 5  # parents that the generator is given
    measures: tuple[str, ...] = measures.DEFAULT
    at_once: int = 4


@dataclass
class Result:
    """Measures by row (mean and interval) over all questions and by `groups` of them, how much was indexed
    and asked, and where the seconds went. `values` are those of each question."""

    rows: Rows
    documents: int
    parents: int
    children: int
    queries: int
    whole_in_child: (
        float | None
    )  # share of questions an answer of which lies within one child; none: no spans
    whole_in_parent: float | None
    seconds: dict[str, float] = field(default_factory=dict)
    groups: dict[str, Rows] = field(default_factory=dict)
    values: Values = field(default_factory=dict)


async def run(dataset: Dataset, product: Product, plan: Plan, progress: Progress = silent) -> Result:
    """Indexes the data set, asks its questions and scores every row."""
    dataset = _limited(dataset, plan.limit)
    seconds: dict[str, float] = {}
    corpus = await _load(dataset, product, plan, progress, seconds)
    started = time.perf_counter()
    rankings = await _ask_all(dataset.queries, product, plan, corpus, progress)
    seconds["ask"] = time.perf_counter() - started
    values = valued(rankings, dataset, corpus, plan.measures, plan.contexts)
    return Result(
        rows=means(values, dataset.qrels),
        documents=len(dataset.documents),
        parents=len(corpus.parents),
        children=len(corpus.children),
        queries=len(dataset.queries),
        whole_in_child=ceiling(dataset, [corpus.child_place(child) for child in corpus.children]),
        whole_in_parent=ceiling(dataset, [corpus.parent_place(parent) for parent in corpus.parents]),
        seconds={stage: round(took, 1) for stage, took in seconds.items()},
        groups=grouped(values, dataset.queries),
        values=values,
    )


def _limited(dataset: Dataset, limit: int) -> Dataset:
    """`limit` of the questions, of each set where several are mixed, drawn by their id's hash: the same ones
    every time."""
    if not limit:
        return dataset
    by_set: dict[str, list[Query]] = defaultdict(list)
    for query in sorted(dataset.queries, key=lambda one: hashlib.sha256(one.id.encode()).digest()):
        by_set[dict(query.groups).get("set", "")].append(query)
    drawn = [query for queries in by_set.values() for query in queries[:limit]]
    return replace(dataset, queries=drawn, qrels={query.id: dataset.qrels[query.id] for query in drawn})


async def _load(
    dataset: Dataset, product: Product, plan: Plan, progress: Progress, seconds: dict[str, float]
) -> Corpus:
    started = time.perf_counter()
    cut = {document.id: list(product.chunk(document)) for document in dataset.documents}
    seconds["chunk"] = time.perf_counter() - started
    vectors = await _embedded(dataset, cut, product, plan.at_once, progress)
    seconds["embed"] = time.perf_counter() - started - seconds["chunk"]
    placed = _topics(dataset, vectors, plan)
    started = time.perf_counter()
    await product.index(
        [Indexed(d, placed[d.id], cut[d.id], vectors[d.id]) for d in dataset.documents if cut[d.id]]
    )
    seconds["index"] = time.perf_counter() - started
    return Corpus.of(parent for parents in cut.values() for parent in parents)


async def _embedded(
    dataset: Dataset, cut: Mapping[str, list[Parent]], product: Product, at_once: int, progress: Progress
) -> dict[str, list[Vectors]]:
    work = [(document, parent) for document in dataset.documents for parent in cut[document.id]]
    rows = await each(lambda pair: product.embed(*pair), work, at_once, "embedding", progress)
    vectors: dict[str, list[Vectors]] = defaultdict(list)
    for (document, _), values in zip(work, rows, strict=True):
        vectors[document.id].append(values)
    return vectors


def _topics(dataset: Dataset, vectors: Mapping[str, list[Vectors]], plan: Plan) -> Mapping[str, str]:
    if plan.split_topics == "kmeans":
        means = np.stack([np.concatenate(rows).mean(axis=0) for rows in vectors.values()])
        units = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        return topics.by_kmeans(list(vectors), units, plan.topics)
    if plan.split_topics == "hash":
        return topics.by_hash(list(vectors), plan.topics)
    return mixed.by_part(dataset.documents, plan.topics)


async def _ask_all(
    queries: Sequence[Query], product: Product, plan: Plan, corpus: Corpus, progress: Progress
) -> Rankings:
    async def ask(query: Query) -> dict[str, Ranking]:
        return await _rankings(query.text, product, plan, corpus)

    answers = await each(ask, queries, plan.at_once, "asking", progress)
    rankings: Rankings = defaultdict(dict)
    for query, rows in zip(queries, answers, strict=True):
        for row, ranking in rows.items():
            rankings[row][query.id] = ranking
    return rankings


async def _rankings(question: str, product: Product, plan: Plan, corpus: Corpus) -> dict[str, Ranking]:
    legs = await product.search(question, await product.embed_question(question))
    rows = {leg: by_leg(legs, leg, corpus) for leg in LEGS}
    rows |= {f"rrf_{way}": by_fusion(legs, way, product.fuse, corpus) for way in FUSIONS}
    if product.rerank is not None:
        fused = rows[f"rrf_{plan.fusion}"]
        rows["reranked"] = await reranked(question, fused, product.rerank, corpus, plan.candidates)
    return rows
