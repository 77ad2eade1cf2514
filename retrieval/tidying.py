"""Tidies up behind the index: points that no version needs, once nobody reads an older snapshot."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from radrag.errors import RadragError
from retrieval.chores import Chore
from retrieval.points import of_edition
from retrieval.snapshot import Readers
from retrieval.store import FOREVER, Store
from retrieval.versions import Versions

log = logging.getLogger(__name__)


class Tidying:
    """Chores done in the background, each `grace` seconds after it arose, under its document's lock."""

    def __init__(
        self,
        store: Store,
        versions: Versions,
        readers: Readers,
        lock: Callable[[str], asyncio.Lock],
        grace: float,
    ) -> None:
        self._store, self._versions, self._readers = store, versions, readers
        self._lock, self._grace = lock, grace
        self._tasks: set[asyncio.Task[None]] = set()

    async def undone(self) -> None:
        """Does what a killed process left undone."""
        for chore in await self._versions.chores(self._grace):
            await self._try(chore)

    def soon(self, chores: Sequence[Chore]) -> None:
        """Has them done after the grace."""
        for chore in chores:
            task = asyncio.create_task(self._later(chore))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Waits until nothing is left to tidy."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _later(self, chore: Chore) -> None:
        await asyncio.sleep(self._grace)
        await self._try(chore)

    async def _try(self, chore: Chore) -> None:
        try:
            await self._do(chore)
        except RadragError:  # logged where it arose; the chore stays noted and is done on the next start
            log.warning("an edition of %s is left to be tidied", chore.collection)

    async def _do(self, chore: Chore) -> None:
        """Makes the points of an edition fit the table, once no reader's view is older than the table."""
        async with self._lock(chore.document_id):
            await self._readers.gone_before(self._versions.snapshot.revision)
            generation = self._versions.snapshot.generations.get(chore.collection.generation)
            version = generation.versions.get(chore.edition) if generation else None
            where = of_edition(chore.edition)
            if version is None:
                await self._store.delete(chore.collection, where)
            else:
                day = version.document.valid_to
                await self._store.set_valid_to(chore.collection, where, FOREVER if day is None else day)
            await self._versions.done(chore)
