"""The catalogue as the rest of ingest uses it: each method is one transaction."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue import database, force, intake, intents, lookup, moves
from ingest.catalogue.database import Database
from ingest.catalogue.entry import ChunkRange, Entry, Row, document_in, entry_of, said_of, said_sha256
from ingest.catalogue.force import Term
from ingest.catalogue.history import Event, events_of
from ingest.catalogue.intake import Near
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import SEARCHABLE, State
from ingest.catalogue.tables import chunks
from ingest.document import Document

IN_INDEX = (State.PUBLISHED, State.EXPIRED)


@dataclass(frozen=True)
class Found:
    """One version with its texts, chunks, history and near-duplicates, and its document's other versions."""

    entry: Entry
    document: Document
    chunks: Sequence[ChunkRange]
    versions: Sequence[Entry]
    history: Sequence[Event]
    near: Sequence[Near]


class Catalogue:
    """An open catalogue."""

    def __init__(self, data: Database) -> None:
        self.data = data

    @classmethod
    async def opened(cls, url: str) -> "Catalogue":
        """Opens it, makes or migrates its tables. Raises Unavailable."""
        return cls(await database.opened(url))

    async def close(self) -> None:
        """Lets go of the database."""
        await self.data.close()

    async def take_in(
        self, document: Document, ranges: Sequence[ChunkRange], signed: bytes, subject: str
    ) -> Entry:
        """See intake.take_in."""
        return await self._row(lambda c: intake.take_in(c, document, ranges, signed, subject))

    async def take_in_approved(
        self, document: Document, ranges: Sequence[ChunkRange], signed: bytes, subject: str, needed: int
    ) -> Entry:
        """The same, and the subject's own approval of what is then in review, of `needed` different ones."""

        def work(connection: Connection) -> Row:
            row = intake.take_in(connection, document, ranges, signed, subject)
            return moves.approved_with(connection, row, subject, "approved with the batch", needed)

        return await self._row(work)

    async def discover(self, document: Document, subject: str) -> Entry:
        """Notes a document that is to be read."""
        return await self._row(lambda c: intake.discover(c, document, subject))

    async def fail(self, document: Document, subject: str, reason: str) -> Entry:
        """Notes that a document could not be read."""
        return await self._row(lambda c: intake.fail(c, document, subject, reason))

    async def put_chunks(self, number: int, ranges: Sequence[ChunkRange]) -> None:
        """Keeps a version's chunks in place of those it had."""
        await self.data.write(lambda c: intake.put_chunks(c, number, ranges))

    async def approve(self, document_id: str, version: str, subject: str, reason: str, needed: int) -> Entry:
        """Counts an approval of the newest row of this very version; see moves.approve."""
        return await self._row(
            lambda c: moves.approve(c, lookup.known(c, document_id, version), subject, reason, needed)
        )

    async def reject(self, document_id: str, version: str, subject: str, reason: str) -> Entry:
        """Refuses this very version."""
        return await self._row(
            lambda c: moves.reject(c, lookup.known(c, document_id, version), subject, reason)
        )

    async def retry(self, document_id: str, version: str, subject: str, reason: str = "") -> Entry:
        """Reopens a version; see moves.retry."""
        return await self._row(
            lambda c: moves.retry(c, lookup.known(c, document_id, version), subject, reason)
        )

    async def begin_publishing(self, number: int, subject: str, needed: int, today: date) -> Term:
        """See force.begin_publishing."""
        return await self.data.write(lambda c: force.begin_publishing(c, number, subject, needed, today))

    async def finish_publishing(self, number: int, subject: str, today: date) -> Entry:
        """See force.finish_publishing."""
        return await self._row(lambda c: force.finish_publishing(c, number, subject, today))

    async def begin_retiring(self, intent: Intent) -> list[str]:
        """See force.begin_retiring."""
        return await self.data.write(lambda c: force.begin_retiring(c, intent))

    async def finish_retiring(self, intent: Intent, today: date) -> None:
        """See force.finish_retiring."""
        await self.data.write(lambda c: force.finish_retiring(c, intent, today))

    async def begin_deleting(self, intent: Intent) -> None:
        """See force.begin_deleting."""
        await self.data.write(lambda c: force.begin_deleting(c, intent))

    async def finish_deleting(self, intent: Intent) -> list[str]:
        """See force.finish_deleting."""
        return await self.data.write(lambda c: force.finish_deleting(c, intent))

    async def forget(self, intent: Intent) -> None:
        """Drops an intent that will not come true."""
        await self.data.write(lambda c: intents.finish(c, intent))

    async def begun(self, until: int | None = None) -> list[Intent]:
        """Intents that are not finished, those older than an instant if given."""
        return await self.data.read(lambda c: intents.begun(c, until=until))

    async def expire_due(self, today: date) -> int:
        """See force.expire_due."""
        return await self.data.write(lambda c: force.expire_due(c, today))

    async def gone(self, number: int) -> bool:
        """See force.gone."""
        return await self.data.read(lambda c: force.gone(c, number))

    async def find(self, document_id: str, version: str = "") -> Entry:
        """The newest row of a document, or of one of its versions. Raises NotFound."""
        return await self.data.read(lambda c: entry_of(lookup.known(c, document_id, version)))

    async def of(self, document_id: str) -> list[Entry]:
        """All rows of a document, newest first."""
        return await self.data.read(lambda c: [entry_of(row) for row in lookup.of_document(c, document_id)])

    async def numbered(self, number: int) -> Entry:
        """The row of this number. Raises NotFound."""
        return await self._read(lambda c: lookup.numbered(c, number))

    async def publishable(self, document_id: str, version: str) -> Entry:
        """The row to publish: the newest that is approved or published. Raises NotFound."""
        states = (State.APPROVED, State.PUBLISHED, State.EXPIRED)
        return await self.data.read(lambda c: entry_of(lookup.known(c, document_id, version, states)))

    async def published(self, document: Document) -> Entry | None:
        """The row of this very version with this metadata, if it is published, or was until its last day."""
        return await self.data.read(lambda c: _published(c, document))

    async def show(self, document_id: str, version: str = "") -> Found:
        """Everything about one version. Raises NotFound."""
        return await self.data.read(lambda c: _show(c, lookup.known(c, document_id, version)))

    async def document(self, number: int) -> Document:
        """The document of a row, its text checked against its sha256. Raises NotFound."""
        return await self.data.read(lambda c: _document(c, lookup.numbered(c, number)))

    async def before(self, entry: Entry) -> Document | None:
        """What a reviewer compares with: the version in force, else the one this one follows."""
        return await self.data.read(lambda c: _before(c, entry))

    async def page(
        self,
        states: Collection[State] = (),
        topics: Collection[str] = (),
        size: int = 100,
        before: int | None = None,
    ) -> list[Entry]:
        """See lookup.page."""
        return await self.data.read(
            lambda c: [entry_of(row) for row in lookup.page(c, states, topics, size, before)]
        )

    async def all_in(self, states: Collection[State]) -> list[Entry]:
        """All versions in these states, oldest first."""
        return await self.data.read(lambda c: [entry_of(row) for row in lookup.in_states(c, states)])

    async def counts(self) -> dict[str, dict[str, int]]:
        """Versions by state, topic, category and language."""
        return await self.data.read(lookup.counts)

    async def _read(self, work: Callable[[Connection], Row]) -> Entry:
        return await self.data.read(lambda c: entry_of(work(c)))

    async def _row(self, work: Callable[[Connection], Row]) -> Entry:
        return await self.data.write(lambda c: entry_of(work(c)))


def _show(connection: Connection, row: Row) -> Found:
    chosen = sql.select(chunks).where(chunks.c.number == row.number)
    pieces = connection.execute(chosen.order_by(chunks.c.level.desc(), chunks.c.start))
    return Found(
        entry=entry_of(row),
        document=_document(connection, row),
        chunks=[ChunkRange(one.level, one.start, one.end, one.tokens) for one in pieces],
        versions=[entry_of(one) for one in lookup.of_document(connection, row.document_id)],
        history=events_of(connection, row.number),
        near=intake.near(connection, row),
    )


def _published(connection: Connection, document: Document) -> Entry | None:
    row = intake.same(connection, document, said_sha256(said_of(document)))
    return entry_of(row) if row is not None and State(row.state) in IN_INDEX else None


def _document(connection: Connection, row: Row) -> Document:
    texts = (lookup.text(connection, digest) for digest in (row.text_sha256, row.raw_sha256))
    return document_in(row, *texts)


def _before(connection: Connection, entry: Entry) -> Document | None:
    rows = lookup.of_document(connection, entry.document_id)
    others = [row for row in rows if row.number != entry.number and row.version]
    live = [row for row in others if State(row.state) in SEARCHABLE and row.number < entry.number]
    linked = [row for row in others if row.number == entry.previous]
    found = next(iter([*live, *linked]), None)
    return None if found is None else _document(connection, found)
