"""Takes versions in: refuses exact duplicates, keeps texts, links and flags them, puts them into review."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from ingest.catalogue import minhash
from ingest.catalogue.entry import UNREAD, ChunkRange, Row, Value, read_columns, said_of, said_sha256
from ingest.catalogue.history import note, now
from ingest.catalogue.lookup import newest, of_document
from ingest.catalogue.moves import drop_unread, move, retry
from ingest.catalogue.states import Act, State
from ingest.catalogue.tables import bands, chunks, texts, versions
from ingest.document import Document
from radrag.errors import InvalidArgument

MOSTLY_PICTURES = 0.7  # of the pages' area
MOST_NEAR = 10
UNREAD_STATES = (State.DISCOVERED, State.FAILED)

# Made and compiled once: every version asks each of them.
OF_ANOTHER = versions.c.document_id != sql.bindparam("own")
SAME_TEXT = sql.select(versions).where(versions.c.text_sha256 == sql.bindparam("text"), OF_ANOTHER).limit(1)
BANDS = sql.select(bands.c.band).where(bands.c.number == sql.bindparam("wanted"))
SHARING = sql.select(bands.c.number).where(bands.c.band.in_(BANDS))
SHARING_BANDS = sql.select(versions).where(versions.c.number.in_(SHARING), OF_ANOTHER)
NO_CHUNKS, CHUNKS = chunks.delete().where(chunks.c.number == sql.bindparam("wanted")), chunks.insert()
VERSION = versions.insert().returning(versions)
NEW = {
    (dialect.__name__.rpartition(".")[2], table.name): dialect.insert(table).on_conflict_do_nothing()
    for dialect in (sqlite, postgresql)
    for table in (texts, bands)
}


@dataclass(frozen=True)
class Near:
    """Another document's version with nearly the same text; `likeness` 0.8 to 1."""

    document_id: str
    version: str
    state: State
    title: str
    likeness: float


def take_in(
    connection: Connection, document: Document, ranges: Sequence[ChunkRange], signed: bytes, subject: str
) -> Row:
    """The row of a version, in review when it is new.

    A version that is known with the same metadata stays what it is, but one that was superseded goes into
    review again. Raises InvalidArgument for the text of another document.
    """
    refuse_duplicate(connection, document)
    said = said_of(document)
    held = of_document(connection, document.document_id)
    if not all(row.version for row in held):
        drop_unread(connection, document.document_id)
    if row := _same(held, document, said_sha256(said)):
        again = State(row.state) is State.SUPERSEDED
        return retry(connection, row, subject, "the same text came again") if again else row
    row = move(connection, _read(connection, document, said, signed, held), Act.PARSE, subject)
    _keep(connection, document)
    put_chunks(connection, row.number, ranges)
    _insert_new(connection, "bands", [{"number": row.number, "band": key} for key in minhash.bands(signed)])
    flags = list(flags_of(document, bool(near(connection, row)), _same_source(connection, row)))
    return move(connection, row, Act.SUBMIT, subject, flags=flags)


def refuse_duplicate(connection: Connection, document: Document) -> None:
    """Raises InvalidArgument naming the other document that has exactly this text."""
    mine = {"text": document.sha256, "own": document.document_id}
    row = connection.execute(SAME_TEXT, mine).first()
    if row is not None:
        where = f"document {row.document_id!r}, version {row.version}, which is {row.state}"
        raise InvalidArgument("content", f"{document.document_id}: the same text is {where}")


def flags_of(document: Document, near_duplicate: bool, same_source: bool) -> Sequence[str]:
    """What a reviewer should look at, in words."""
    found = {
        "mostly_pictures": document.pictures > MOSTLY_PICTURES,
        "near_duplicate": near_duplicate,
        "same_source": same_source,
    }
    return [*document.flags, *(name for name, true in found.items() if true)]


def near(connection: Connection, row: Row) -> list[Near]:
    """Versions of other documents with nearly the same text, the most alike first."""
    candidates = connection.execute(SHARING_BANDS, {"wanted": row.number, "own": row.document_id})
    alike = [(minhash.likeness(row.signature, other.signature), other) for other in candidates]
    alike.sort(key=lambda pair: (-pair[0], -pair[1].number))
    return [
        Near(other.document_id, other.version, State(other.state), other.title, likeness)
        for likeness, other in alike[:MOST_NEAR]
        if likeness >= minhash.NEAR
    ]


def discover(connection: Connection, document: Document, subject: str) -> Row:
    """The row of a document that was not read yet. `document` has no text; its title may be a file's name."""
    row = newest(connection, document.document_id, states=UNREAD_STATES)
    said = said_of(document)
    if row is None:
        row = _insert(connection, {**UNREAD, **said}, document.document_id, said, None)
        note(connection, row, Act.RETRY, State.DISCOVERED, subject=subject, reason="discovered")
        return row
    values = {**said, "said_sha256": said_sha256(said)}
    return move(connection, row, Act.RETRY, subject, "", **values)


def fail(connection: Connection, document: Document, subject: str, reason: str) -> Row:
    """Notes that a document could not be read, and why."""
    return move(connection, discover(connection, document, subject), Act.FAIL, subject, reason[:2000])


def put_chunks(connection: Connection, number: int, ranges: Sequence[ChunkRange]) -> None:
    """Keeps a version's chunks in place of those it had."""
    connection.execute(NO_CHUNKS, {"wanted": number})
    rows = [
        {"number": number, "level": one.level, "start": one.start, "end": one.end, "tokens": one.tokens}
        for one in ranges
    ]
    if rows:
        connection.execute(CHUNKS, rows)


def same(connection: Connection, document: Document, said: str) -> Row | None:
    """The row of this very version with this metadata."""
    return _same(of_document(connection, document.document_id), document, said)


def _same(held: Sequence[Row], document: Document, said: str) -> Row | None:
    return next((one for one in held if (one.version, one.said_sha256) == (document.version, said)), None)


def _read(
    connection: Connection,
    document: Document,
    said: dict[str, Value],
    signed: bytes,
    held: Sequence[Row],
) -> Row:
    """The new row; of those `held` it takes the place of one that was not read yet."""
    waiting = next((row for row in held if State(row.state) in UNREAD_STATES), None)
    before = [row for row in held if row.version]
    columns = {**UNREAD, **said, **read_columns(document, signed)}
    if waiting is not None:
        columns["number"] = waiting.number  # the same version goes on, with its history
    return _insert(connection, columns, document.document_id, said, before[0].number if before else None)


def _insert(
    connection: Connection,
    columns: dict[str, Value],
    document_id: str,
    said: dict[str, Value],
    previous: int | None,
) -> Row:
    values = {
        **columns,
        "document_id": document_id,
        "said_sha256": said_sha256(said),
        "state": State.DISCOVERED.value,
        "since": now(),
        "previous": previous,
    }
    return connection.execute(VERSION, values).one()


def _keep(connection: Connection, document: Document) -> None:
    pairs = {document.sha256: document.text, str(read_columns(document, b"")["raw_sha256"]): document.raw}
    _insert_new(connection, "texts", [{"sha256": digest, "text": text} for digest, text in pairs.items()])


def _insert_new(connection: Connection, table: str, rows: list[dict[str, Value]]) -> None:
    """Inserts those rows whose key is not there yet."""
    if rows:
        connection.execute(NEW[connection.dialect.name, table], rows)


def _same_source(connection: Connection, row: Row) -> bool:
    other = (versions.c.source_uri == row.source_uri) & (versions.c.document_id != row.document_id)
    return bool(row.source_uri) and connection.scalar(sql.select(versions.c.number).where(other)) is not None
