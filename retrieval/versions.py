"""The durable table document → versions: the one place where a publication becomes true.

A commit is one transaction that ends in the next index revision. Chores are what it leaves to be tidied in
the vector store; a chore is written before the points it is about, so a killed process leaves none unknown.
SQLAlchemy Core; SQLite (write-ahead log, every commit synced) by default, PostgreSQL by URL.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import sqlalchemy as sql
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from radrag.errors import FailedPrecondition, InvalidArgument, Unavailable
from radrag.sqlite import write_ahead
from retrieval import chores, generations
from retrieval.chores import Chore
from retrieval.completion import to_the_end
from retrieval.generations import next_revision
from retrieval.snapshot import Generation, Snapshot, Version
from retrieval.store import FOREVER, Collection
from retrieval.tables import generation_row, metadata, read_snapshot, row, state, versions

T = TypeVar("T")
log = logging.getLogger(__name__)

# Made and compiled once: every publication asks for them.
ADDED = versions.insert()
OF_DOCUMENT = (
    sql.select(versions)
    .where(versions.c.document_id == sql.bindparam("wanted"))
    .order_by(versions.c.revision)
)


class Versions:
    """The table, and a snapshot of it in memory that every commit replaces."""

    def __init__(self, url: str, shared: bool | None = None) -> None:
        """Opens or makes the tables. Raises Unavailable.

        `shared`: other processes write to them too; by default true for anything but SQLite.
        """
        self._engine = _engine(url)
        self._thread = ThreadPoolExecutor(1, "versions")
        self._shared = not url.startswith("sqlite") if shared is None else shared
        self._snapshot = self._thread.submit(self._run, _first_snapshot).result()

    @property
    def snapshot(self) -> Snapshot:
        """The table as of the last commit of this process, or the last `refresh`."""
        return self._snapshot

    async def refresh(self) -> Snapshot:
        """The table as it is now; asks the database only when other processes write to it."""
        if self._shared:
            await self._write(lambda connection: None)
        return self._snapshot

    async def begin(self, chore: Chore) -> bool:
        """Notes an edition that is about to be written. Returns whether points of it may be there already."""
        return await self._write(lambda connection: chores.note(connection, chore))

    async def publish(self, generation: Generation, new: Version) -> tuple[str, list[Chore]]:
        """Commits a version. Returns the version that was live before, if another one, and what to tidy.

        Raises FailedPrecondition when the generation was dropped meanwhile, or made anew by something else.
        """
        return await self._write(lambda connection: _publish(connection, generation, new))

    async def delete(
        self, document_id: str, version: str, generation: str = ""
    ) -> tuple[list[str], list[Chore]]:
        """Commits the removal of one version from one generation; an empty one means all of them."""
        return await self._write(lambda connection: _delete(connection, document_id, version, generation))

    async def end(self, document_id: str, version: str, day: int) -> list[Chore]:
        """Commits the first day on which a version is no longer in force, in every generation."""
        return await self._write(lambda connection: _end_version(connection, document_id, version, day))

    async def chores(self, age: float = 0.0) -> list[Chore]:
        """The chores noted at least `age` seconds ago."""
        return await self._write(lambda connection: chores.noted(connection, age))

    async def done(self, chore: Chore) -> None:
        """Forgets a chore."""
        await self._write(lambda connection: chores.forget(connection, chore))

    async def add_generation(self, generation: Generation) -> None:
        """Notes a generation without versions. Raises FailedPrecondition when there is one of that name."""
        await self._write(lambda connection: generations.add(connection, generation))

    async def add_first(self, generation: Generation) -> None:
        """The same for the first of all, but one that is there stays, unless nothing was written to it."""
        await self._write(lambda connection: generations.add_first(connection, generation))

    async def remove_generation(self, name: str) -> None:
        """Forgets a generation with all its versions and chores."""
        await self._write(lambda connection: generations.remove(connection, name))

    async def advance(self) -> None:
        """Commits a new revision without other change, so that everyone looks again."""
        await self._write(next_revision)

    async def close(self) -> None:
        """Lets go of the database."""
        await asyncio.to_thread(self._thread.shutdown)
        self._engine.dispose()

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await to_the_end(self._commit(work))

    async def _commit(self, work: Callable[[Connection], T]) -> T:
        def transaction(connection: Connection) -> tuple[T, Snapshot]:
            return work(connection), read_snapshot(connection, self._snapshot)

        running = asyncio.get_running_loop().run_in_executor(self._thread, self._run, transaction)
        result, self._snapshot = await running
        return result

    def _run(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            log.error("the version table failed: %s", type(error).__name__)  # its text may quote a row
            raise Unavailable("the version table cannot be read or written", "VERSIONS_FAILED") from error


def _engine(url: str) -> Engine:
    engine = sql.create_engine(url, hide_parameters=True)  # errors are logged; rows hold titles
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _sync_every_commit)
    return engine


def _sync_every_commit(connection: object, _record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]  # the driver's connection
    write_ahead(cursor, seconds=5)
    for pragma in ("synchronous=FULL", "busy_timeout=5000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _first_snapshot(connection: Connection) -> Snapshot:
    metadata.create_all(connection)
    if connection.scalar(sql.select(state.c.revision)) is None:
        connection.execute(state.insert().values(id=1, revision=0))
    return read_snapshot(connection, Snapshot(revision=-1))


def _publish(connection: Connection, into: Generation, new: Version) -> tuple[str, list[Chore]]:
    revision, superseded, left, generation = next_revision(connection), "", [], into.name
    if generations.noted(connection, generation) != generation_row(into):
        raise FailedPrecondition(f"generation {generation!r} was dropped or made anew", "GENERATION_UNKNOWN")
    for old in _of_document(connection, new.document.document_id, generation):
        end = max(old.valid_from, min(_end(old.valid_to), new.document.valid_from))
        if old.version == new.document.version:
            connection.execute(versions.delete().where(_is(generation, old.edition)))
        elif old.live or end != old.valid_to:
            superseded = old.version if old.live else superseded
            values = {"live": 0, "valid_to": end, "revision": revision}
            connection.execute(versions.update().where(_is(generation, old.edition)).values(values))
        else:
            continue
        left.append(Chore(Collection(generation, old.topic), old.edition, old.document_id))
    connection.execute(ADDED, row(generation, replace(new, revision=revision)))
    chores.forget(connection, Chore(Collection(generation, ""), new.edition, ""))
    left = [chore for chore in left if chore.edition != new.edition]
    for chore in left:
        chores.note(connection, chore)
    return superseded, left


def _delete(
    connection: Connection, document_id: str, version: str, generation: str
) -> tuple[list[str], list[Chore]]:
    held = _of_document(connection, document_id, generation)
    doomed = [old for old in held if version in ("", old.version)]
    if doomed:
        next_revision(connection)
    left = [Chore(Collection(old.generation, old.topic), old.edition, document_id) for old in doomed]
    for chore in left:
        connection.execute(versions.delete().where(_is(chore.collection.generation, chore.edition)))
        chores.note(connection, chore)
    return sorted({old.version for old in doomed}), left


def _end_version(connection: Connection, document_id: str, version: str, day: int) -> list[Chore]:
    ending = [old for old in _of_document(connection, document_id) if old.version == version]
    ending = [old for old in ending if old.valid_to != day]
    if any(day <= old.valid_from for old in ending):
        raise InvalidArgument("valid_to", "must be later than the version's first day in force")
    if any(not old.live and day > _end(old.valid_to) for old in ending):
        raise InvalidArgument("valid_to", "must not reach into the days of the version that followed")
    revision = next_revision(connection) if ending else 0
    left = [Chore(Collection(old.generation, old.topic), old.edition, document_id) for old in ending]
    for chore in left:
        one = _is(chore.collection.generation, chore.edition)
        connection.execute(versions.update().where(one).values(valid_to=day, revision=revision))
        chores.note(connection, chore)
    return left


def _of_document(
    connection: Connection, document_id: str, generation: str = ""
) -> Sequence["sql.Row[tuple[object, ...]]"]:
    held = connection.execute(OF_DOCUMENT, {"wanted": document_id}).all()
    return [one for one in held if generation in ("", one.generation)]


def _is(generation: str, edition: str) -> "sql.ColumnElement[bool]":
    return (versions.c.generation == generation) & (versions.c.edition == edition)


def _end(valid_to: int | None) -> int:
    return FOREVER if valid_to is None else valid_to
