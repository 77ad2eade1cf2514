"""The snapshots of one Qdrant node: our collections alone, and what was made of them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from qdrant_client import AsyncQdrantClient

from radrag.access.channels import Files
from retrieval.server_snapshots import Snapshot
from retrieval.server_store import GRPC_PORT, PREFIX, connect, failures

SECONDS = 3600  # a snapshot copies a whole collection


class ServerNode:
    """A node by its own address. See `server_snapshots.Node`."""

    def __init__(self, client: AsyncQdrantClient) -> None:
        self._client = client

    @classmethod
    def at(
        cls, url: str, api_key_file: str = "", tls: Files | None = None, grpc_port: int = GRPC_PORT
    ) -> "ServerNode":
        """Connected as the store is. Raises OSError."""
        return cls(connect(url, api_key_file, tls, grpc_port, SECONDS))

    async def collections(self) -> Sequence[str]:
        """See Node."""
        with failures("listed"):
            found = (await self._client.get_collections()).collections
        return sorted(one.name for one in found if one.name.startswith(PREFIX))

    async def snapshots(self, collection: str) -> Sequence[Snapshot]:
        """See Node."""
        with failures("listed"):
            found = await self._client.list_snapshots(collection)
        dated = [(one.name, one.creation_time) for one in found]
        return [
            Snapshot(name, datetime.fromisoformat(made).replace(tzinfo=UTC)) for name, made in dated if made
        ]

    async def make_snapshot(self, collection: str) -> None:
        """See Node."""
        with failures("copied"):
            await self._client.create_snapshot(collection, wait=True)

    async def drop_snapshot(self, collection: str, name: str) -> None:
        """See Node."""
        with failures("tidied"):
            await self._client.delete_snapshot(collection, name, wait=True)

    async def close(self) -> None:
        """Closes the connection."""
        await self._client.close()
