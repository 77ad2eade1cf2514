"""Embeds a document's parents through the embedder role: one request a parent, a vector for each child."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from ingest.chunk import context_of
from ingest.document import Document
from ingest.passage import Parent
from ingest.refusal import refused
from radrag.errors import Unavailable
from radrag.telemetry import TRUNCATIONS
from radrag.triton import Embedding, Vectors

Span = tuple[int, int]
Embed = Callable[[str, Sequence[Span]], Awaitable[Embedding]]


class Embedder:
    """At most `at_once` parents in flight, over all documents. `model` names it in metrics."""

    def __init__(self, embed: Embed, model: str, at_once: int = 4) -> None:
        self._embed = embed
        self._model = model
        self._free = asyncio.Semaphore(at_once)

    async def vectors(self, document: Document, parents: Sequence[Parent]) -> list[Vectors]:
        """For each parent the vectors of its searched children, [children, dimension].

        Raises InvalidArgument when the model had to cut a text, Unavailable when it gives no usable numbers.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(document, parent)) for parent in parents]
        return [task.result() for task in tasks]

    async def _one(self, document: Document, parent: Parent) -> Vectors:
        text, spans = framed(document, parent)
        if not spans:
            return np.empty((0, 0), dtype=np.float32)
        async with self._free:
            embedding = await self._embed(text, spans)
        if embedding.truncated:
            TRUNCATIONS.labels(self._model).inc()
            reason = f"characters {parent.start} to {parent.end} are longer than the embedder's window"
            raise refused(document.document_id, "tokens", reason)
        check_vectors(embedding.vectors, len(spans))
        return embedding.vectors


def framed(document: Document, parent: Parent) -> tuple[str, list[Span]]:
    """A parent's text, its context in front; where its searched children stand in that (code points)."""
    context = context_of(document.title, *parent.heading_path, parent.context)
    before = f"{context}\n" if context else ""
    shift = len(before) - parent.start
    return before + parent.text, [(child.start + shift, child.end + shift) for child in parent.searched]


def check_vectors(vectors: Vectors, expected: int) -> None:
    if len(vectors) != expected:
        raise Unavailable(f"the embedder gave {len(vectors)} vectors for {expected} spans", "EMBEDDER_FAILED")
    if not np.isfinite(vectors).all():
        raise Unavailable("the embedder gave numbers that are none (NaN)", "EMBEDDER_FAILED")
