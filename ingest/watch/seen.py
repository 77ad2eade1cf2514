"""What was seen of each source last time: rows of the catalogue's database."""

from dataclasses import dataclass, field

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue.database import Database
from ingest.catalogue.history import now
from ingest.catalogue.tables import watched
from ingest.watch.fetch import Condition


@dataclass(frozen=True)
class Seen:
    """A source that was read: its bytes' sha256, hex, and what its host said of it."""

    sha256: str
    condition: Condition = field(default_factory=Condition)


class SeenTable:
    """Rows by the source's URI."""

    def __init__(self, data: Database) -> None:
        self._data = data

    async def get(self, uri: str) -> Seen | None:
        """What was seen of it, if it was."""
        chosen = sql.select(watched).where(watched.c.uri == uri)
        row = await self._data.read(lambda c: c.execute(chosen).first())
        return None if row is None else Seen(row.sha256, Condition(row.etag, row.last_modified))

    async def below(self, prefix: str) -> set[str]:
        """The URIs that begin so."""
        chosen = sql.select(watched.c.uri).where(watched.c.uri.startswith(prefix, autoescape=True))
        return await self._data.read(lambda c: set(c.execute(chosen).scalars()))

    async def put(self, uri: str, seen: Seen) -> None:
        """Keeps what was seen."""
        await self._data.write(lambda c: _put(c, uri, seen))


def _put(connection: Connection, uri: str, seen: Seen) -> None:
    connection.execute(watched.delete().where(watched.c.uri == uri))
    values = {"uri": uri, "sha256": seen.sha256, "at": now()}
    said = {"etag": seen.condition.etag[:1000], "last_modified": seen.condition.last_modified[:100]}
    connection.execute(watched.insert().values({**values, **said}))
