"""The store on a Qdrant server or cluster: one collection per generation and topic, an alias per topic.

Every write waits until it is applied; every query carries its own filter. With replicas, writes and reads are
by majority, so that what was written is read. Compressed vectors lie in memory and the full ones on disk; the
best are compared again with the full ones, so a score is always the full vectors' own.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException

from radrag import call
from radrag.access.channels import Files
from radrag.errors import Unavailable
from retrieval import server_terms
from retrieval.bm25 import SparseVector
from retrieval.server_terms import filter_of
from retrieval.store import HIT_FIELDS, Collection, Hit, Point, Record, Where

log = logging.getLogger(__name__)

PREFIX = "radrag_"
GRPC_PORT = 6334
SECONDS = 10.0  # longest a request may take, when the caller has more time
POINTS_A_WRITE = 256
PAGE = 1000


def connect(
    url: str,
    api_key_file: str = "",
    tls: Files | None = None,
    grpc_port: int = GRPC_PORT,
    seconds: int | None = None,
) -> AsyncQdrantClient:
    """A client of the server at `url`, over gRPC; the key, if any, is the content of a file.

    `tls` are a CA that the system does not know, and our certificate where the server wants one; `seconds` is
    how long calls may take that say nothing of it. Raises OSError.
    """
    key = Path(api_key_file).read_text(encoding="utf-8").strip() if api_key_file else None
    chain, private, authority = tls.read() if tls else (None, None, None)
    return AsyncQdrantClient(
        url=url,
        grpc_port=grpc_port,
        api_key=key,
        prefer_grpc=True,
        timeout=seconds,
        check_compatibility=False,
        grpc_options={
            "root_certificates": authority, "private_key": private, "certificate_chain": chain,
        },
    )  # fmt: skip


class ServerStore:
    """Collections `radrag_<generation>_<topic>` and aliases `radrag_<topic>` on a server."""

    kind = "server"

    def __init__(
        self, client: AsyncQdrantClient, shards: int = 1, replicas: int = 1, compression: str = "none"
    ) -> None:
        """They count for collections made from now on; `compression` is none, int8 or binary.

        Earlier ones are searched by such vectors as they have; with none, by the full ones.
        """
        self._client, self._shards, self._replicas = client, shards, replicas
        self._compressed = server_terms.compressed(compression)
        self._params = server_terms.params(compression)
        self._consistency = models.ReadConsistencyType.MAJORITY if replicas > 1 else None

    async def create(self, collection: Collection, dimension: int) -> None:
        """See Store."""
        with failures("created"):
            if not await self._client.collection_exists(_name(collection)):
                await self._create(_name(collection), dimension)
            for field, schema in server_terms.schema():  # again where a killed process left some out
                await self._client.create_payload_index(_name(collection), field, schema, wait=True)

    async def _create(self, name: str, dimension: int) -> None:
        await self._client.create_collection(
            name,
            vectors_config={"dense": self._dense(dimension)},
            quantization_config=self._compressed,
            sparse_vectors_config={"bm25": models.SparseVectorParams()},
            shard_number=self._shards,
            replication_factor=self._replicas,
            write_consistency_factor=self._replicas // 2 + 1,
        )

    def _dense(self, dimension: int) -> models.VectorParams:
        # Beside compressed ones in memory the full ones would make it more, not less.
        on_disk = True if self._compressed else None
        return models.VectorParams(size=dimension, distance=models.Distance.COSINE, on_disk=on_disk)

    async def write(self, collection: Collection, points: Sequence[Point]) -> None:
        """See Store."""
        for first in range(0, len(points), POINTS_A_WRITE):
            some = [server_terms.point(point) for point in points[first : first + POINTS_A_WRITE]]
            with failures("written"):
                await self._client.upsert(_name(collection), some, wait=True, timeout=_seconds())

    async def secure(self, collection: Collection) -> None:
        """See Store. The server answers a waiting write after it is in its log."""

    async def nearest(
        self, collection: Collection, query: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        """See Store."""
        sparse = isinstance(query, SparseVector)
        with failures("searched"):
            found = await self._client.query_points(
                _name(collection),
                query=server_terms.sparse(query) if isinstance(query, SparseVector) else list(query),
                using="bm25" if sparse else "dense",
                query_filter=filter_of(where),
                search_params=None if sparse else self._params,
                limit=limit,
                with_payload=list(HIT_FIELDS),
                consistency=self._consistency,
                timeout=_seconds(),
            )
        return [Hit(score=point.score, **(point.payload or {})) for point in found.points]

    async def fetch(self, collection: Collection, point_ids: Sequence[str]) -> list[Record]:
        """See Store."""
        with failures("read"):
            found = await self._client.retrieve(
                _name(collection), list(point_ids), consistency=self._consistency, timeout=_seconds()
            )
        return [Record(str(point.id), point.payload or {}) for point in found]

    async def find(self, collection: Collection, where: Where) -> list[Record]:
        """See Store."""
        records: list[Record] = []
        offset: str | None = None
        while True:
            with failures("read"):
                found, following = await self._client.scroll(
                    _name(collection),
                    filter_of(where),
                    limit=PAGE,
                    offset=offset,
                    consistency=self._consistency,
                )
            records += [Record(str(point.id), point.payload or {}) for point in found]
            if following is None:
                return records
            offset = str(following)

    async def count(self, collection: Collection, where: Where) -> int:
        """See Store."""
        with failures("read"):
            return (await self._client.count(_name(collection), filter_of(where), exact=True)).count

    async def delete(self, collection: Collection, where: Where) -> None:
        """See Store."""
        with failures("written"):
            await self._client.delete(_name(collection), filter_of(where), wait=True)

    async def set_valid_to(self, collection: Collection, where: Where, day: int) -> None:
        """See Store."""
        with failures("written"):
            await self._client.set_payload(
                _name(collection), {"valid_to": day}, points=filter_of(where), wait=True
            )

    async def point_to(self, generation: str, topics: Sequence[str]) -> None:
        """See Store. One request with all actions."""
        with failures("written"):
            old = [alias.alias_name for alias in (await self._client.get_aliases()).aliases]
            actions: list[models.CreateAliasOperation | models.DeleteAliasOperation] = [
                models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name))
                for name in old
                if name.startswith(PREFIX)
            ]
            actions += [_alias(Collection(generation, topic)) for topic in topics]
            await self._client.update_collection_aliases(actions)

    async def current(self) -> str:
        """See Store."""
        with failures("read"):
            aliases = (await self._client.get_aliases()).aliases
        ours = [alias for alias in aliases if alias.alias_name.startswith(PREFIX)]
        return ours[0].collection_name.removeprefix(PREFIX).partition("_")[0] if ours else ""

    async def drop(self, collection: Collection) -> None:
        """See Store."""
        with failures("dropped"):
            if await self._client.collection_exists(_name(collection)):
                await self._client.delete_collection(_name(collection))

    async def close(self) -> None:
        """See Store."""
        await self._client.close()


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Turns the client's failures into ours."""
    try:
        yield
    except (ApiException, grpc.RpcError, ValueError, OSError) as error:
        # Its text may quote what was sent.
        kind = error.code() if isinstance(error, grpc.RpcError) else type(error).__name__
        log.error("the server store could not be %s: %s", what, kind)
        raise Unavailable(f"the vector store could not be {what}", "STORE_FAILED") from error


def _seconds() -> int:
    # The client takes whole seconds; the caller's own deadline cuts the rest.
    return max(1, int(call.time_left(SECONDS)))


def _name(collection: Collection) -> str:
    return f"{PREFIX}{collection}"


def _alias(collection: Collection) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(
        create_alias=models.CreateAlias(
            collection_name=_name(collection), alias_name=f"{PREFIX}{collection.topic}"
        )
    )
