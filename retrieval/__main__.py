"""Starts the retrieval service: the one file that reads settings and wires the parts."""

import gc

if __name__ == "__main__":
    gc.disable()  # until it serves: nothing imported is garbage, and to look takes a tenth of a start

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import uvloop

from radrag import serving, telemetry
from radrag.access import channels, opening
from radrag.access.channels import Files
from radrag.admission import limits
from radrag.retrieval.v1 import retrieval_pb2_grpc
from radrag.settings import SettingError, Settings
from retrieval.bm25 import Bm25
from retrieval.edge_store import EdgeStore
from retrieval.edge_terms import OVERSAMPLING, Dense
from retrieval.fusion import WAYS, Rrf
from retrieval.index import Index
from retrieval.search import BM25, DENSE, Searcher
from retrieval.server_snapshots import Schedule
from retrieval.service import NAME, RetrievalService
from retrieval.snapshot import View
from retrieval.store import Store
from retrieval.versions import Versions

STORES = ("edge", "server")
F = TypeVar("F", bound=Callable[..., Any])


def open_store(settings: Settings) -> Store:
    """The store that the settings name."""
    if settings.store == "server":
        # The client takes two seconds to import; the embedded store must be ready again before that.
        from retrieval.server_store import ServerStore, connect  # noqa: PLC0415

        client = connect(*_qdrant(settings, settings.qdrant_url))
        shards, replicas = settings.qdrant_shards, settings.qdrant_replicas
        return ServerStore(client, shards, replicas, settings.vector_compression)
    return EdgeStore(settings.index_path / "edge", dense=Dense(settings.vector_compression))


def _qdrant(settings: Settings, url: str) -> tuple[str, str, Files | None]:
    channels.refuse_plaintext(settings, "RADRAG_QDRANT_API_KEY_FILE", settings.qdrant_api_key_file, url)
    return url, settings.qdrant_api_key_file, channels.trusting(settings, settings.qdrant_ca_file)


@asynccontextmanager
async def snapshots(settings: Settings) -> AsyncIterator[None]:
    """Keeps the schedule of snapshots on the Qdrant server while the block runs, where one is wanted."""
    if settings.store != "server" or not settings.qdrant_snapshot_hours:
        yield
        return
    from retrieval.server_node import ServerNode  # noqa: PLC0415  as above

    urls = settings.qdrant_node_urls or (settings.qdrant_url,)
    nodes = [ServerNode.at(*_qdrant(settings, url)) for url in urls]
    schedule = Schedule(nodes, settings.qdrant_snapshot_hours, settings.qdrant_snapshots_kept)
    running = asyncio.create_task(schedule.forever())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, *(one.close() for one in nodes), return_exceptions=True)


def versions_url(settings: Settings) -> str:
    """Where the version table is."""
    return settings.versions_url or f"sqlite:///{settings.index_path.absolute() / 'versions.sqlite'}"


def report(view: View) -> None:
    """Sets the gauges of live points and documents."""
    held = view.generation.counts() if view.generation else {}
    telemetry.INDEX_DOCUMENTS.set(sum(counts.documents for counts in held.values()))
    for topic, counts in held.items():
        telemetry.INDEX_POINTS.labels(topic, "parent").set(counts.parents)
        telemetry.INDEX_POINTS.labels(topic, "child").set(counts.children)


def _leg(stage: str, function: F, /) -> F:
    """Measures a leg, `topic.kind:language`, with the names of the semantic conventions for databases."""
    topic, _, _ = stage.partition(".")
    attributes = {
        "db.system.name": "qdrant",
        "db.operation.name": "query",
        "db.collection.name": topic,
    }
    return telemetry.traced(stage, function, attributes=attributes)


def _check(settings: Settings) -> None:
    chosen = (
        ("STORE", settings.store, STORES),
        ("FUSION", settings.fusion, WAYS),
        ("VECTOR_COMPRESSION", settings.vector_compression, OVERSAMPLING),
    )
    for name, value, known in chosen:
        if value not in known:
            raise SettingError(f"RADRAG_{name} must be one of {', '.join(known)}")


async def main(settings: Settings) -> None:
    """Serves until told to stop."""
    _check(settings)
    telemetry.configure("retrieval", settings.log_format)
    access = opening.opened(settings, settings.retrieval_address)
    settings.index_path.mkdir(parents=True, exist_ok=True)
    store, versions = open_store(settings), Versions(versions_url(settings))
    bm25 = Bm25(k1=settings.bm25_k1, b=settings.bm25_b, avg_len=settings.bm25_avg_len)
    index = Index(store, versions, bm25, committed=report)
    weights = {DENSE: settings.dense_weight, BM25: settings.bm25_weight}
    searcher = Searcher(
        store,
        index.reading,
        bm25,
        settings.topics,
        fuse=WAYS[settings.fusion],
        rrf=Rrf(settings.rrf_k, weights),
        language_share=settings.language_share,
        wrap=_leg,
    )
    service = RetrievalService(index, searcher, bm25, topics=settings.topics, store=store.kind)
    await index.tidy()
    server = await serving.start(
        lambda grpc_server: retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(service, grpc_server),
        settings.retrieval_address,
        names=(NAME,) if settings.reflection else (),
        limits=limits.of(settings),
        metrics_host=settings.metrics_host,
        access=access,
    )
    await server.ready(NAME)
    _swept()
    async with snapshots(settings):
        await serving.until_stopped(server, settings.drain_seconds)
    await index.settle()
    await store.close()
    await versions.close()


def _swept() -> None:
    """What was imported stays: looking through it again would stop every search for 70 ms."""
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    uvloop.run(main(Settings.from_environ(os.environ)))
