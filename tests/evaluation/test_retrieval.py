"""A retrieval run with parts whose answers are obvious: a document is found by the letters it shares."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from evaluation import retrieval
from evaluation.datasets import Dataset, Document, Query, Span
from evaluation.passages import Child, Corpus, Hit, Parent
from evaluation.ranking import Legs, Ranking, by_leg, reranked
from evaluation.retrieval import Indexed, Plan, Product, Vectors


def parents_of(document: Document) -> list[Parent]:
    """One parent per line, with one child per word."""
    parents, start = [], 0
    for line in document.text.split("\n"):
        children, place = [], start
        for word in line.split(" "):
            name = f"{document.id}:{place}"
            children.append(Child(name, document.id, place, place + len(word), word))
            place += len(word) + 1
        name = f"{document.id}/{start}"
        parents.append(Parent(name, document.id, start, start + len(line), line, tuple(children)))
        start += len(line) + 1
    return parents


def vector(text: str) -> Vectors:
    counts = np.array([[text.count(letter) + 0.01 for letter in "abcdef"]], dtype=np.float32)
    return counts / np.linalg.norm(counts)


class Index:
    """Finds children by cosine, and by equality as the words' leg."""

    def __init__(self) -> None:
        self.documents: list[Indexed] = []

    async def add(self, documents: Sequence[Indexed]) -> None:
        self.documents.extend(documents)

    async def search(self, question: str, wanted: Vectors) -> Legs:
        found: dict[str, dict[str, list[Hit]]] = {}
        for one in self.documents:
            legs = found.setdefault(one.topic, {"dense": [], "bm25": []})
            for parent, vectors in zip(one.parents, one.vectors, strict=True):
                for child, row in zip(parent.children, vectors, strict=True):
                    legs["dense"].append(Hit(child.id, float(row @ wanted[0])))
                    if child.text in question.split(" "):
                        legs["bm25"].append(Hit(child.id, 1.0))
        return found


def fuse(legs: Legs, way: str) -> list[str]:
    """Words first, then vectors; `per_collection` takes one of each topic."""
    order = [h for leg in ("bm25", "dense") for found in legs.values() for h in sorted(found[leg], key=_rank)]
    if way == "per_collection":
        order = [
            h for found in legs.values() for h in sorted([*found["bm25"], *found["dense"]], key=_rank)[:1]
        ]
    return list(dict.fromkeys(hit.child for hit in order))


def _rank(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.child


async def rerank(question: str, parents: Sequence[Parent]) -> list[float]:
    return [float(sum(word in parent.text for word in question.split(" "))) for parent in parents]


def product(index: Index, with_reranker: bool = True) -> Product:
    async def embed(document: Document, parent: Parent) -> Vectors:
        return np.concatenate([vector(child.text) for child in parent.children])

    async def embed_question(question: str) -> Vectors:
        return vector(question)

    return Product(
        parents_of, embed, embed_question, index.add, index.search, fuse, rerank if with_reranker else None
    )


DATASET = Dataset(
    "tiny", "", [Document("x", "", "aa bb\ncc dd"), Document("y", "", "ee ff"), Document("z", "", "bb bb")],
    [Query("1", "dd", (Span("x", 9, 11),)), Query("2", "ff ee", (Span("y", 0, 5),))],
    {"1": {"x": 1}, "2": {"y": 1}}, "0" * 64,
)  # fmt: skip


async def test_every_row_finds_what_shares_its_words() -> None:
    result = await retrieval.run(DATASET, product(Index()), Plan(("one",)))
    assert list(result.rows) == ["bm25", "dense", "rrf_global", "rrf_per_collection", "reranked"]
    assert all(row["P@1"].mean == 1.0 for row in result.rows.values())
    assert (result.documents, result.parents, result.children, result.queries) == (3, 4, 8, 2)


async def test_an_answer_longer_than_a_child_is_held_by_its_parent_only() -> None:
    result = await retrieval.run(DATASET, product(Index()), Plan(("one",)))
    row = result.rows["dense"]
    assert (row["ChildSpan@5"].mean, row["ParentSpan@5"].mean) == (0.5, 1.0)
    assert (result.whole_in_child, result.whole_in_parent) == (0.5, 1.0)
    assert "ChildSpan@5" not in result.rows["reranked"]


async def test_without_a_reranker_there_is_no_reranked_row() -> None:
    result = await retrieval.run(DATASET, product(Index(), with_reranker=False), Plan(("one",)))
    assert "reranked" not in result.rows


@pytest.mark.parametrize("way", ["hash", "kmeans"])
async def test_split_topics_spreads_the_documents(way: str) -> None:
    index = Index()
    await retrieval.run(DATASET, product(index), Plan(("one", "two"), split_topics=way))
    assert {one.topic for one in index.documents} == {"one", "two"}
    assert sorted(one.document.id for one in index.documents) == ["x", "y", "z"]


async def test_a_limit_asks_the_same_questions_again() -> None:
    first = await retrieval.run(DATASET, product(Index()), Plan(("one",), limit=1))
    again = await retrieval.run(DATASET, product(Index()), Plan(("one",), limit=1))
    assert first.queries == again.queries == 1
    assert first.rows == again.rows


CORPUS = Corpus.of(parents_of(Document("d", "", "a\nb\nc")))


def test_a_leg_is_merged_over_topics_by_score_with_ties_by_id() -> None:
    legs = {"s": {"dense": [Hit("d:4", 0.5), Hit("d:2", 0.1)]}, "t": {"dense": [Hit("d:0", 0.5)]}}
    assert by_leg(legs, "dense", CORPUS).children == ["d:0", "d:4", "d:2"]
    assert by_leg(legs, "bm25", CORPUS).children == []


async def test_only_the_candidates_are_reranked_and_a_failed_row_comes_last_of_them() -> None:
    async def scores(question: str, parents: Sequence[Parent]) -> list[float]:
        return [math.nan, 0.5][: len(parents)]

    fused = Ranking(["d/0", "d/2", "d/4"], ["d:0", "d:2", "d:4"])
    ranking = await reranked("?", fused, scores, CORPUS, candidates=2)
    assert ranking.parents == ["d/2", "d/0", "d/4"]
