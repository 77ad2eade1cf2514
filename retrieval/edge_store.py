"""The embedded store: one qdrant-edge shard per collection, below one folder, in this process alone.

What the engine leaves to us (0.9.0): it holds Python's lock while it searches, writes, flushes, loads and
optimizes, so a process searches on one core, and all else is kept short or left to the start; it compares
with each of up to `SCANNED_KILOBYTES` of vectors and builds a graph above, on the next start; and on a full
disk a write ends the process with SIGBUS, so we stop before.
"""

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import qdrant_edge as qdrant

from radrag.errors import Unavailable
from retrieval import edge_reading, edge_terms
from retrieval.bm25 import SparseVector
from retrieval.completion import to_the_end
from retrieval.edge_failures import failures
from retrieval.edge_terms import Dense, Known
from retrieval.line import Line
from retrieval.store import Collection, Hit, Point, Record, Where

T = TypeVar("T")

POINTS_A_WRITE = 64  # 7 ms with Python's lock held
POINTS_A_FLUSH = 1000  # a flush takes 0.2 s; replaying 1,000 points at the next start takes 0.15 s
RESERVE = 128 * 1024 * 1024  # bytes of free disk below which nothing is written: two log segments and room


class EdgeStore:
    """Shards below `folder`, by generation and topic; the file `current` names the current generation."""

    kind = "edge"

    def __init__(self, folder: Path, reserve: int = RESERVE, dense: Dense = Dense()) -> None:  # noqa: B008
        """Opens every shard and gives it the shape `dense`. Raises Unavailable while another process has it.

        Nothing is written while fewer than `reserve` bytes of the disk are free.
        """
        self._folder, self._reserve, self._dense = folder, reserve, dense
        self._shards: dict[Collection, qdrant.EdgeShard] = {}
        self._unflushed: Counter[Collection] = Counter()
        self._lines: dict[Collection, Line[qdrant.QueryRequest, list[Hit]]] = {}
        self._known: dict[Collection, Known] = {}
        self._points: dict[Collection, int] = {}  # when it was opened, for graphs are built then
        self._writer = ThreadPoolExecutor(1, "edge-writer")  # so that writes do not queue behind searches
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*/[!.]*/edge_config.json")):
            self._open(Collection(path.parent.parent.name, path.parent.name))

    def _path(self, collection: Collection) -> Path:
        return self._folder / collection.generation / collection.topic

    def _open(self, collection: Collection) -> None:
        path = self._path(collection)
        with failures("opened"):
            dimension, graph = edge_terms.dimension(path), edge_terms.linked(path)
            shard = qdrant.EdgeShard.load(str(path), self._dense.config(dimension, graph))
            self._points[collection] = points = shard.info().points_count
            wanted = self._dense.graph(dimension, points)
            if self._dense.compressed and graph != wanted:  # its number of points is known when it is loaded
                shard.close()
                shard = qdrant.EdgeShard.load(str(path), self._dense.config(dimension, wanted))
            if shard.optimize():
                shard.flush()  # whoever is killed before does it all again, and leaves the segments there
            self._known[collection] = edge_reading.known(shard)
        self._shards[collection] = shard

    def _shard(self, collection: Collection) -> qdrant.EdgeShard:
        try:
            return self._shards[collection]
        except KeyError:
            raise Unavailable(f"no collection {collection}", "STORE_FAILED") from None

    async def create(self, collection: Collection, dimension: int) -> None:
        """See Store. The shard is made aside and moved into place, so a half-made one is never opened."""
        if collection not in self._shards:
            self._check_disk()
            await self._do("created", lambda: self._create(collection, dimension))

    def _create(self, collection: Collection, dimension: int) -> None:
        aside = self._folder / collection.generation / f".{collection.topic}"
        shutil.rmtree(aside, ignore_errors=True)
        shard = qdrant.EdgeShard.create(str(aside), self._dense.config(dimension))
        for field, schema in edge_terms.schema():
            shard.update(qdrant.UpdateOperation.create_field_index(field, schema))
        shard.flush()
        shard.close()
        aside.rename(self._path(collection))
        _sync(self._folder / collection.generation)
        self._shards[collection] = qdrant.EdgeShard.load(str(self._path(collection)))

    async def write(self, collection: Collection, points: Sequence[Point]) -> None:
        """See Store."""
        shard = self._shard(collection)
        self._check_disk()
        for first in range(0, len(points), POINTS_A_WRITE):
            some = [edge_terms.point(point) for point in points[first : first + POINTS_A_WRITE]]
            await self._do("written", partial(shard.update, qdrant.UpdateOperation.upsert_points(some)))
        self._known.setdefault(collection, {}).update(edge_terms.fields_of(points))
        self._unflushed[collection] += len(points)

    async def secure(self, collection: Collection) -> None:
        """See Store. Syncs the write-ahead log; flushes only so often that a start has little to replay."""
        shard = self._shard(collection)
        if self._unflushed[collection] >= POINTS_A_FLUSH:
            await self._do("flushed", shard.flush)
            self._unflushed[collection] = 0
        else:
            await self._do("flushed", lambda: _sync(*(self._path(collection) / "wal").iterdir()))

    async def nearest(
        self, collection: Collection, query: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        """See Store."""
        self._shard(collection)
        request = self._dense.request(query, where, limit, self._points.get(collection, 0))
        return await self._lines.setdefault(collection, Line(partial(self._hits, collection))).ask(request)

    async def _hits(self, collection: Collection, requests: Sequence[qdrant.QueryRequest]) -> list[list[Hit]]:
        shard, known = self._shard(collection), self._known.setdefault(collection, {})
        return await _read("searched", lambda: edge_reading.hits(shard, requests, known))

    async def fetch(self, collection: Collection, point_ids: Sequence[str]) -> list[Record]:
        """See Store."""
        shard = self._shard(collection)
        found = await _read("read", lambda: shard.retrieve(list(point_ids), True, False))
        return [Record(str(point.id), point.payload or {}) for point in found]

    async def find(self, collection: Collection, where: Where) -> list[Record]:
        """See Store."""
        shard = self._shard(collection)
        return await _read("read", lambda: list(edge_reading.records(shard, where)))

    async def count(self, collection: Collection, where: Where) -> int:
        """See Store."""
        shard, request = (
            self._shard(collection),
            qdrant.CountRequest(exact=True, filter=edge_terms.filter_of(where)),
        )
        return await _read("read", lambda: shard.count(request))

    async def delete(self, collection: Collection, where: Where) -> None:
        """See Store."""
        await self._update(
            collection, qdrant.UpdateOperation.delete_points_by_filter(edge_terms.filter_of(where))
        )

    async def set_valid_to(self, collection: Collection, where: Where, day: int) -> None:
        """See Store."""
        operation = qdrant.UpdateOperation.set_payload_by_filter(
            edge_terms.filter_of(where), {"valid_to": day}
        )
        await self._update(collection, operation)

    def _check_disk(self) -> None:
        if shutil.disk_usage(self._folder).free < self._reserve:
            raise Unavailable(f"fewer than {self._reserve} bytes of the index's disk are free", "DISK_FULL")

    async def _update(self, collection: Collection, operation: qdrant.UpdateOperation) -> None:
        shard = self._shard(collection)
        self._check_disk()
        await self._do("written", lambda: shard.update(operation))
        self._unflushed[collection] += 1

    async def point_to(self, generation: str, topics: Sequence[str]) -> None:
        """See Store. One file, replaced in one step."""
        await self._do("written", lambda: self._point_to(generation))

    def _point_to(self, generation: str) -> None:
        aside = self._folder / "current.new"
        aside.write_text(generation, encoding="utf-8")
        _sync(aside)
        aside.replace(self._folder / "current")
        _sync(self._folder)

    async def current(self) -> str:
        """See Store."""
        pointer = self._folder / "current"
        return pointer.read_text(encoding="utf-8") if pointer.exists() else ""

    async def drop(self, collection: Collection) -> None:
        """See Store."""
        shard = self._shards.pop(collection, None)
        self._known.pop(collection, None)
        self._points.pop(collection, None)
        if shard is not None:
            await self._do("dropped", shard.close)
            await self._do("dropped", lambda: shutil.rmtree(self._path(collection)))

    async def close(self) -> None:
        """See Store. Flushes, so that the next start has nothing to replay."""
        for shard in self._shards.values():
            await self._do("flushed", shard.flush)
            await self._do("closed", shard.close)
        self._shards.clear()
        self._writer.shutdown()

    async def _do(self, what: str, work: Callable[[], T]) -> T:
        with failures(what):
            return await to_the_end(asyncio.get_running_loop().run_in_executor(self._writer, work))


async def _read(what: str, work: Callable[[], T]) -> T:
    with failures(what):
        return await asyncio.to_thread(work)


def _sync(*paths: Path) -> None:
    for path in paths:
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
