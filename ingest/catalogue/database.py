"""The catalogue's database: one thread, whole transactions, every commit synced, migrated when it is opened.

SQLite (write-ahead log) by default, PostgreSQL by URL. Several processes may have it open: the command line
and the service share it.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sql
from alembic import command
from alembic.config import Config
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from radrag.errors import Unavailable
from radrag.sqlite import write_ahead

T = TypeVar("T")
log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parents[1] / "migrations"
LOCK = 0x7261647261  # of PostgreSQL: one process migrates at a time
PRAGMAS = ("synchronous=FULL", "busy_timeout=30000")
READS = "radrag_reads"


class Database:
    """An open database. Work given to it runs in its thread, one piece after another."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._reads = engine, engine.execution_options(**{READS: True})
        self._thread = ThreadPoolExecutor(1, "catalogue")

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` as one transaction that others wait for. A cancelled caller leaves it whole."""
        return await self._run(self._engine, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` on one state of the tables, without keeping writers away."""
        return await self._run(self._reads, work)

    async def _run(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await asyncio.shield(loop.run_in_executor(self._thread, _transaction, engine, work))

    async def close(self) -> None:
        """Lets go of the database, after the work given to it so far."""
        await asyncio.to_thread(self._thread.shutdown)
        self._engine.dispose()


async def opened(url: str) -> Database:
    """Opens a database and brings its tables up to date. Raises Unavailable."""
    return Database(await asyncio.to_thread(_migrated, url))


def engine_of(url: str) -> Engine:
    """The engine of a URL. Rows hold titles and ratings: errors never repeat parameters."""
    engine = sql.create_engine(url, hide_parameters=True)
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _settled)
        sql.event.listen(engine, "begin", _begun)
    return engine


def _settled(connection: object, _record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined]  # the driver's; `_begun` begins
    cursor = connection.cursor()  # type: ignore[attr-defined]
    write_ahead(cursor)
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begun(connection: Connection) -> None:
    # A transaction that first reads and then writes would fail beside another writer instead of waiting.
    reads = connection.get_execution_options().get(READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _migrated(url: str) -> Engine:
    try:
        if (folder := make_url(url)).get_backend_name() == "sqlite" and folder.database:
            Path(folder.database).parent.mkdir(parents=True, exist_ok=True)
        engine = engine_of(url)
        _transaction(engine, migrate)
    except (OSError, sql.exc.ArgumentError) as error:
        raise Unavailable(
            "the catalogue cannot be opened: see RADRAG_CATALOGUE_URL", "CATALOGUE_FAILED"
        ) from (error)
    return engine


def migrate(connection: Connection) -> None:
    """Brings the tables up to date in the connection's own transaction; nothing is left half-way."""
    if connection.dialect.name == "postgresql":
        connection.execute(sql.text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    config = Config()
    config.set_main_option("script_location", MIGRATIONS.as_posix())
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _transaction(engine: Engine, work: Callable[[Connection], T]) -> T:
    try:
        with engine.begin() as connection:
            return work(connection)
    except SQLAlchemyError as error:
        log.error("the catalogue failed: %s", error)
        raise Unavailable("the catalogue cannot be read or written", "CATALOGUE_FAILED") from error
