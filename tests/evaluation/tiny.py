"""Small data sets on disk, and models whose numbers are made of letters, for commands that need both."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import BertPreTokenizer

from cli import evaluate_models
from radrag.settings import Settings
from radrag.triton import Embedding, Score
from retrieval.bm25 import SparseVector
from retrieval.store import Collection, Hit, Point, Where

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lines(path: Path, rows: Sequence[dict[str, object]]) -> None:
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")


def beir(folder: Path, texts: dict[str, str], asked: dict[str, str], answers: bool = True) -> Path:
    """A BEIR folder: text by document, and document by question, whose whole text is the answer."""
    folder.mkdir(parents=True)
    lines(folder / "corpus.jsonl", [{"_id": one, "text": text} for one, text in texts.items()])
    found = {q: {"answer": texts[d], "answer_start": 0} if answers else {} for q, d in asked.items()}
    lines(folder / "queries.jsonl", [{"_id": f"q{n}", "text": q, **found[q]} for n, q in enumerate(asked)])
    judged = [f"q{n}\t{document}\t1\n" for n, document in enumerate(asked.values())]
    (folder / "qrels.tsv").write_text("".join(judged), encoding="utf-8")
    return folder


def ours(folder: Path) -> Path:
    """A set of our layout: two documents, one question with two needed spans, one that nothing answers."""
    folder.mkdir(parents=True)
    texts = {"mr": "MR of the liver. The field is 3 T.", "ct": "CT of the chest. The dose is 7 mSv."}
    lines(
        folder / "documents.jsonl", [{"id": one, "title": one, "text": text} for one, text in texts.items()]
    )
    both = [
        {"document": "mr", "quote": "The field is 3 T."},
        {"document": "ct", "quote": "The dose is 7 mSv."},
    ]
    asked = [
        ("both", "physics", 2, "Which field and which dose?", [both]),
        ("dose", "safety", 0, "What is the dose?", [both[1:]]),
        ("none", "safety", 0, "Who invented it?", []),
    ]
    names = ("id", "topic", "complexity", "question", "evidence")
    rows = [dict(zip(names, one, strict=True)) for one in asked]
    fixed = {"language": "en", "section": "", "reference_answer": ""}
    lines(folder / "questions.jsonl", [row | fixed | {"answerable": bool(row["evidence"])} for row in rows])
    return folder


def tokenizer(folder: Path) -> Path:
    """A tokenizer whose tokens are words and signs: a command needs no model's."""
    made = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = BertPreTokenizer()
    folder.mkdir(exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    (folder / "limits.json").write_text('{"content_tokens": {"document": 500}}', encoding="utf-8")
    return folder / "tokenizer.json"


class Models:
    """An embedder that counts letters and a reranker that counts words in common."""

    async def parameters(self, model: str) -> dict[str, str]:
        return {"pooling": model}

    async def embed(
        self, model: str, text: str, task: str, spans: Sequence[tuple[int, int]] = ()
    ) -> Embedding:
        parts = [text[start:end] for start, end in spans] or [text]
        counts = np.array([[part.lower().count(one) + 0.01 for one in LETTERS] for part in parts])
        units = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return Embedding(units.astype(np.float32), [1] * len(parts), False)

    async def rerank(self, model: str, query: str, passages: Sequence[str]) -> list[Score]:
        words = set(query.lower().split())
        return [Score(len(words & set(one.lower().split())) / len(words), False) for one in passages]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands' model server."""

    @asynccontextmanager
    async def serving(settings: Settings, names: tuple[str, ...]) -> AsyncIterator[Models]:
        yield Models()

    monkeypatch.setattr(evaluate_models, "serving", serving)


class Store:
    """The store in plain memory: a grid of many cells should not wait for a disk."""

    def __init__(self, folder: Path) -> None:
        self._points: dict[Collection, list[Point]] = {}

    async def create(self, collection: Collection, dimension: int) -> None:
        self._points[collection] = []

    async def write(self, collection: Collection, points: Sequence[Point]) -> None:
        self._points[collection] += points

    async def nearest(
        self, collection: Collection, query: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        scored = [(str(one.payload["passage_id"]), _score(one, query)) for one in self._points[collection]]
        best = sorted((hit for hit in scored if hit[1] > 0), key=lambda hit: -hit[1])
        return [Hit(score, "", name, "", 0, 0) for name, score in best[:limit]]

    async def close(self) -> None:
        self._points.clear()


def _score(point: Point, query: Sequence[float] | SparseVector) -> float:
    if not isinstance(query, SparseVector):
        return float(np.dot(point.dense or (), query))
    assert point.bm25 is not None
    weights = dict(zip(point.bm25.indices, point.bm25.values, strict=True))
    return sum(
        weights.get(term, 0.0) * weight for term, weight in zip(query.indices, query.values, strict=True)
    )
