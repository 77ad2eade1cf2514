"""Snapshots of our collections on Qdrant servers, by a schedule: the newest is never older than wanted.

A node of a cluster snapshots its own shards alone, so each node is asked at its own address. Several
processes may keep the same schedule: who comes second finds a young snapshot and makes none.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from radrag.errors import Unavailable

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0


@dataclass(frozen=True)
class Snapshot:
    """One that is there."""

    name: str
    made: datetime


class Node(Protocol):
    """A server's snapshots; every verb raises Unavailable."""

    async def collections(self) -> Sequence[str]:
        """Names of our collections."""

    async def snapshots(self, collection: str) -> Sequence[Snapshot]:
        """Those of a collection."""

    async def make_snapshot(self, collection: str) -> None:
        """Makes one and waits for it."""

    async def drop_snapshot(self, collection: str, name: str) -> None:
        """Removes one."""


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Schedule:
    """One at least every `hours`, the newest `kept` of each collection and node."""

    nodes: Sequence[Node]
    hours: float
    kept: int = 7
    now: Callable[[], datetime] = now

    async def forever(self) -> None:
        """Looks every ten minutes until it is cancelled. A failure is logged, and tried again."""
        while True:
            await self.once()
            await asyncio.sleep(LOOK_SECONDS)

    async def once(self) -> None:
        """Makes what is due at every node, and removes what is too many."""
        for node in self.nodes:
            try:
                for collection in await node.collections():
                    await self._keep(node, collection)
            except Unavailable:
                log.error("a snapshot could not be made, it will be tried again")

    async def _keep(self, node: Node, collection: str) -> None:
        found = sorted(await node.snapshots(collection), key=lambda one: one.made, reverse=True)
        if not found or self.now() - found[0].made >= timedelta(hours=self.hours):
            await node.make_snapshot(collection)
            log.info("snapshot of %s made", collection)
            found = sorted(await node.snapshots(collection), key=lambda one: one.made, reverse=True)
        for old in found[self.kept :]:  # only now that a newer one is there
            await node.drop_snapshot(collection, old.name)
