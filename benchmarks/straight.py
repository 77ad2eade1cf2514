"""The path's parts called straight: tensors to Triton, legs to the store. Their sum is the limit of a search.

The store's calls are those that a search makes, noted once per question and made again from a copy of the
index in this process: no network, no fusion, no snapshot around them.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.stand import Stand
from cli import places
from radrag.settings import Settings
from radrag.triton import ModelServer
from retrieval.bm25 import Bm25, SparseVector
from retrieval.edge_store import EdgeStore
from retrieval.fingerprint import QueryEmbedder
from retrieval.fusion import WAYS, Rrf
from retrieval.index import Index
from retrieval.question import Question
from retrieval.search import BM25, DENSE, Searcher
from retrieval.service import today
from retrieval.store import Collection, Hit, Record, Where
from retrieval.versions import Versions

PASSAGES = 13


class Noting(EdgeStore):
    """A store that notes what a search asks of it."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.legs: list[tuple[Collection, Sequence[float] | SparseVector, Where, int]] = []
        self.fetches: list[tuple[Collection, Sequence[str]]] = []

    async def nearest(
        self, collection: Collection, query: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        self.legs.append((collection, query, where, limit))
        return await super().nearest(collection, query, where, limit)

    async def fetch(self, collection: Collection, point_ids: Sequence[str]) -> list[Record]:
        self.fetches.append((collection, point_ids))
        return await super().fetch(collection, point_ids)


@dataclass
class Asked:
    """One question: what its search asked of the store, and the texts that were reranked."""

    text: str
    vector: Sequence[float]
    legs: list[tuple[Collection, Sequence[float] | SparseVector, Where, int]] = field(default_factory=list)
    fetches: list[tuple[Collection, Sequence[str]]] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)


@dataclass
class Straight:
    """Asks the servers without us between."""

    stand: Stand
    server: ModelServer
    store: Noting
    searcher: Searcher
    embedder: tuple[str, str]
    asked: list[Asked]

    async def embed(self, number: int) -> None:
        """One question's vector."""
        await self.server.embed(self.stand.models[0], self._of(number).text, "query")

    async def query(self, number: int) -> None:
        """One question's legs, all at once, then its parents."""
        one = self._of(number)
        await asyncio.gather(*(EdgeStore.nearest(self.store, *leg) for leg in one.legs))
        await asyncio.gather(*(EdgeStore.fetch(self.store, *fetch) for fetch in one.fetches))

    async def rerank(self, number: int) -> None:
        """One question's passages."""
        one = self._of(number)
        await self.server.rerank(self.stand.models[1], one.text, one.passages)

    async def all(self, number: int) -> None:
        """The three, one after the other."""
        await self.embed(number)
        await self.query(number)
        await self.rerank(number)

    async def search(self, number: int) -> None:
        """Our own search around the store's calls, in this process."""
        await self.searcher.search(self.question(self._of(number)))

    def question(self, one: Asked) -> Question:
        """As the gateway asks it, for the public, today."""
        name, weights = self.embedder
        embedder = QueryEmbedder(name, weights, len(one.vector))
        return Question(one.text, one.vector, embedder, today(), frozenset({"public"}), parents=PASSAGES)

    def _of(self, number: int) -> Asked:
        return self.asked[number % len(self.asked)]


@asynccontextmanager
async def straight(stand: Stand, questions: Sequence[str]) -> AsyncIterator[Straight]:
    """Straight calls for these questions."""
    settings = Settings.from_environ(stand.environ)
    folder = stand.home / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(places.index(settings, stand.environ), folder)
    store, versions, bm25 = (
        Noting(folder / "edge"),
        Versions(f"sqlite:///{folder / 'versions.sqlite'}"),
        Bm25(),
    )
    index = Index(store, versions, bm25)
    searcher = Searcher(
        store, index.reading, bm25, settings.topics, fuse=WAYS[settings.fusion],
        rrf=Rrf(settings.rrf_k, {DENSE: settings.dense_weight, BM25: settings.bm25_weight}),
        language_share=settings.language_share,
    )  # fmt: skip
    server = ModelServer(stand.triton.grpc, "model server")
    try:
        said = await server.parameters(stand.models[0])
        made = Straight(stand, server, store, searcher, (stand.models[0], said["weights_sha256"]), [])
        for text in questions:
            made.asked.append(await _noted(made, text))
        yield made
    finally:
        await server.close()
        await store.close()
        await versions.close()


async def _noted(made: Straight, text: str) -> Asked:
    found = await made.server.embed(made.stand.models[0], text, "query")
    one, store = Asked(text, found.vectors[0].tolist()), made.store
    store.legs.clear()
    store.fetches.clear()
    best = await made.searcher.search(made.question(one))
    one.legs, one.fetches = list(store.legs), list(store.fetches)
    one.passages = [
        "\n".join((each.document.title, " > ".join(each.parent.heading_path), each.parent.text))
        for each in best.parents
    ]
    return one
