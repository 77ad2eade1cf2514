"""The product's chunker and models as a retrieval run wants them, with what they said kept on disk."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from evaluation import datasets
from evaluation.cache import NumberCache
from evaluation.passages import Child, Parent
from evaluation.retrieval import Vectors
from ingest import passage
from ingest.chunk import ChunkLimits, chunk
from ingest.document import Document, Metadata
from ingest.embed import Span, framed
from ingest.tokens import TokenCounter
from radrag.errors import DeadlineExceeded, Overloaded
from radrag.triton import ModelServer

PAUSES = (2.0, 10.0, 30.0, 60.0)  # seconds

Framed = tuple[str, list[Span]]
"""A parent's text with its context in front, and its children's places in that."""


@dataclass(frozen=True)
class Cutter:
    """The product's chunker. `framed` is what the embedder gets for each parent, by the parent's id."""

    counter: TokenCounter
    limits: ChunkLimits
    framed: dict[str, Framed] = field(default_factory=dict)

    def chunk(self, document: datasets.Document) -> list[Parent]:
        """The passages of a data set's document; none when it has no text."""
        if not document.text.strip():
            return []
        whole = Document(document.id, document.text, document.title, "", Metadata(), "text")
        return [self._parent(whole, one) for one in chunk(whole, self.counter, self.limits)]

    def _parent(self, whole: Document, parent: passage.Parent) -> Parent:
        name = _named(whole, "parent", parent)
        self.framed[name] = framed(whole, parent)
        children = tuple(
            Child(_named(whole, "child", c), whole.document_id, c.start, c.end, c.text, c.context)
            for c in parent.searched
        )
        above = (whole.title, " > ".join(parent.heading_path), parent.context)
        context = "\n".join(part for part in above if part)
        return Parent(name, whole.document_id, parent.start, parent.end, parent.text, children, context)


@dataclass(frozen=True)
class Models:
    """The embedder and the reranker on one server."""

    server: ModelServer
    embedder: str
    reranker: str
    framed: dict[str, Framed]
    vectors: NumberCache
    scores: NumberCache

    async def embed(self, _: datasets.Document, parent: Parent) -> Vectors:
        """A vector per child of the parent, [children, dimension]; none where it is all noise."""
        text, spans = self.framed[parent.id]
        if not spans:  # the embedder would take that for the whole text
            return np.empty((0, 0), dtype=np.float32)

        async def compute() -> Vectors:
            return (await self.server.embed(self.embedder, text, "document", spans)).vectors

        return await self.vectors.get(f"document {spans} {text}", partial(patiently, compute))

    async def embed_question(self, question: str) -> Vectors:
        """The question's vector, [1, dimension]."""

        async def compute() -> Vectors:
            return (await self.server.embed(self.embedder, question, "query")).vectors

        return await self.vectors.get(f"query {question}", partial(patiently, compute))

    async def rerank(self, question: str, parents: Sequence[Parent]) -> list[float]:
        """A score per parent, as it is read alone: title, headings, header rows, text."""
        texts = ["\n".join(part for part in (one.context, one.text) if part) for one in parents]

        async def compute() -> Vectors:
            scores = await self.server.rerank(self.reranker, question, texts)
            return np.array([[score.value] for score in scores], dtype=np.float32)

        scores = await self.scores.get(json.dumps([question, texts]), partial(patiently, compute))
        return [float(score) for score in scores.ravel()]


async def patiently(ask: Callable[[], Awaitable[Vectors]]) -> Vectors:
    """Asks again, after a while, when a model is too busy: a measurement can wait."""
    for pause in PAUSES:
        try:
            return await ask()
        except (Overloaded, DeadlineExceeded):
            await asyncio.sleep(pause)
    return await ask()


def _named(whole: Document, level: str, one: passage.Parent | passage.Child) -> str:
    return passage.passage_id(whole.document_id, whole.version, level, one.start, one.end)
