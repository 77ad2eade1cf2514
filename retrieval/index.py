"""The index: publishes, deletes, keeps generations, and has what they leave tidied up.

A publication's points are written and counted first, then one row is committed, and only then is what no
version needs removed, once nobody reads an older snapshot: see `tidying`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

from radrag.errors import FailedPrecondition
from retrieval.bm25 import Bm25
from retrieval.chores import Chore
from retrieval.completion import to_the_end
from retrieval.fingerprint import Fingerprint, check, check_bm25
from retrieval.frequencies import Frequencies
from retrieval.points import of_edition
from retrieval.publication import Batch, Header, Publication
from retrieval.snapshot import Generation, Readers, Snapshot, Version, View
from retrieval.store import Collection, Store
from retrieval.tidying import Tidying
from retrieval.versions import Versions

FIRST = "g1"  # the generation that the first publication makes


@dataclass(frozen=True)
class Published:
    """What a publication did; see the contract."""

    changed: bool
    revision: int
    superseded_version: str


class Index:
    """One index in a store, with its version table. `grace` is how long other processes may still read."""

    def __init__(
        self,
        store: Store,
        versions: Versions,
        bm25: Bm25,
        *,
        grace: float = 0.0,
        committed: Callable[[View], None] = lambda view: None,
    ) -> None:
        """`committed` is called with the current view, at the start and after every change of it."""
        self._store, self._versions, self._bm25 = store, versions, bm25
        self._committed, self._readers = committed, Readers()
        self._current: tuple[int, str] = (-1, "")
        self._made: set[Collection] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tidying = Tidying(store, versions, self._readers, self._lock, grace)

    async def tidy(self) -> None:
        """Does what a killed process left undone. To be called before the first search."""
        await self._tidying.undone()
        await self._tell()

    async def settle(self) -> None:
        """Waits until nothing is left to tidy."""
        await self._tidying.settle()

    @asynccontextmanager
    async def reading(self, name: str = "") -> AsyncIterator[View]:
        """Holds a view of a generation, the current one without a name.

        Raises FailedPrecondition when there is none of that name.
        """
        with self._readers.reading(await self._versions.refresh()) as snapshot:
            current = await self._current_of(snapshot)
            if not (name or current):
                yield View(snapshot.revision, None)
                return
            yield View(snapshot.revision, _named(snapshot, name or current, current))

    async def _tell(self) -> None:
        async with self.reading() as view:
            self._committed(view)

    async def _current_of(self, snapshot: Snapshot) -> str:
        if self._current[0] != snapshot.revision:
            self._current = (snapshot.revision, await self._store.current())
        return self._current[1]

    async def publish(self, header: Header, batches: AsyncIterator[Batch]) -> Published:
        """Publishes one document version atomically; publishing it again as it is changes nothing."""
        async with self._lock(header.document.document_id):
            generation = await self._generation(header)
            live = generation.versions.get(header.edition)
            if live is not None and live.live and live.document == header.document:
                async for _ in batches:  # a caller that is not read to the end would see a broken stream
                    pass
                return Published(False, self._versions.snapshot.revision, "")
            return await self._publish(generation, header, batches)

    async def _publish(
        self, generation: Generation, header: Header, batches: AsyncIterator[Batch]
    ) -> Published:
        collection = Collection(generation.name, header.document.topic)
        chore = Chore(collection, header.edition, header.document.document_id)
        await self._make(collection, header.fingerprint.embedder.dimension)
        try:
            left = await self._versions.begin(chore)
            if left and header.edition not in generation.versions:  # by a broken stream, or to be removed
                await self._store.delete(collection, of_edition(header.edition))
            frequencies = await Publication(header, self._bm25).write(self._store, collection, batches)
            return await to_the_end(self._commit(generation, header, frequencies))
        except BaseException:
            self._tidying.soon([chore])
            raise

    async def _commit(self, generation: Generation, header: Header, frequencies: Frequencies) -> Published:
        new = Version(header.edition, header.document, True, header.parents, header.children, frequencies, 0)
        async with self._lock(""):
            if not header.generation and await self._store.current() != generation.name:
                raise FailedPrecondition("another generation was switched to: publish again", "SWITCHED")
            superseded, left = await self._versions.publish(generation, new)
        self._tidying.soon(left)
        await self._tell()
        return Published(True, self._versions.snapshot.revision, superseded)

    async def delete(
        self, document_id: str, version: str = "", generation: str = ""
    ) -> tuple[list[str], int]:
        """Removes one version, or all without one, from a generation, or from all without one.

        Returns the versions removed and the revision.
        """
        async with self._lock(document_id):
            return await to_the_end(self._delete(document_id, version, generation))

    async def _delete(self, document_id: str, version: str, generation: str) -> tuple[list[str], int]:
        removed, left = await self._versions.delete(document_id, version, generation)
        self._tidying.soon(left)
        await self._tell()
        return removed, self._versions.snapshot.revision

    async def end(self, document_id: str, version: str, day: int) -> tuple[bool, int]:
        """Sets the first day on which a version is no longer in force; it stays for the days before.

        Returns whether that changed anything, and the revision. Raises InvalidArgument for a day too early.
        """
        async with self._lock(document_id):
            return await to_the_end(self._end(document_id, version, day))

    async def _end(self, document_id: str, version: str, day: int) -> tuple[bool, int]:
        left = await self._versions.end(document_id, version, day)
        self._tidying.soon(left)
        await self._tell()
        return bool(left), self._versions.snapshot.revision

    async def create_generation(self, name: str, fingerprint: Fingerprint) -> int:
        """Makes an empty generation beside the current one. Raises FailedPrecondition when it exists."""
        async with self._lock(""):
            await self._versions.add_generation(Generation(name, fingerprint, self._bm25.sha256))
            return self._versions.snapshot.revision

    async def generations(self) -> tuple[Snapshot, str]:
        """All generations, and the name of the current one."""
        snapshot = await self._versions.refresh()
        return snapshot, await self._current_of(snapshot)

    async def switch(self, name: str, if_revision: int | None = None) -> tuple[str, int]:
        """Makes a generation the current one, for all topics at once; switching back undoes it.

        Returns the one before, and the revision. Raises FailedPrecondition when it is unknown or empty, or
        the index is no longer at `if_revision`.
        """
        async with self._lock(""):
            return await to_the_end(self._switch(name, if_revision))

    async def _switch(self, name: str, if_revision: int | None) -> tuple[str, int]:
        snapshot, current = await self.generations()
        generation = _named(snapshot, name, current)
        if if_revision not in (None, snapshot.revision):
            moved = f"the index is at revision {snapshot.revision}, no longer at {if_revision}"
            raise FailedPrecondition(moved, "REVISION_MOVED")
        if not generation.versions:
            raise FailedPrecondition(f"generation {name!r} holds nothing", "GENERATION_EMPTY")
        check_bm25(self._bm25.sha256, generation.bm25_sha256)
        await self._store.point_to(name, sorted(generation.topics))
        await self._versions.advance()
        await self._tell()
        return current, self._versions.snapshot.revision

    async def drop_generation(self, name: str) -> None:
        """Removes a generation that is not the current one. Cut off half-way, it can be done again."""
        async with self._lock(""):
            generation = _named(self._versions.snapshot, name, "")
            if name == await self._store.current():
                raise FailedPrecondition(f"generation {name!r} is the current one", "GENERATION_CURRENT")
            for topic in sorted(generation.topics):
                await self._store.drop(Collection(name, topic))
                self._made.discard(Collection(name, topic))
            await self._versions.remove_generation(name)

    async def _generation(self, header: Header) -> Generation:
        """The generation to write; the first publication makes the first."""
        snapshot = await self._versions.refresh()
        current = await self._store.current()
        if not (header.generation or current):
            return await self._first(header.fingerprint)
        generation = _named(snapshot, header.generation or current, current)
        check(header.fingerprint, generation.fingerprint)
        check_bm25(self._bm25.sha256, generation.bm25_sha256)
        return generation

    async def _first(self, fingerprint: Fingerprint) -> Generation:
        async with self._lock(""):
            await self._versions.add_first(Generation(FIRST, fingerprint, self._bm25.sha256))
        generation = self._versions.snapshot.generations[FIRST]
        check(fingerprint, generation.fingerprint)
        return generation

    async def _make(self, collection: Collection, dimension: int) -> None:
        """Makes a collection when its first document comes; the first collection of all makes it current."""
        async with self._lock(""):
            if collection in self._made:
                return
            await self._store.create(collection, dimension)
            if await self._store.current() in {"", collection.generation}:
                await self._store.point_to(collection.generation, self._topics(collection))
                await self._versions.advance()
            self._made.add(collection)

    def _topics(self, new: Collection) -> list[str]:
        made = {one.topic for one in self._made if one.generation == new.generation}
        return sorted(made | self._versions.snapshot.generations[new.generation].topics | {new.topic})

    def _lock(self, document_id: str) -> asyncio.Lock:
        """One writer per document; the empty id is the lock of the generations."""
        return self._locks.setdefault(document_id, asyncio.Lock())


def _named(snapshot: Snapshot, name: str, current: str) -> Generation:
    if name not in snapshot.generations:
        raise FailedPrecondition(
            f"generation {name!r} is unknown; the current one is {current!r}", "GENERATION_UNKNOWN"
        )
    return snapshot.generations[name]
