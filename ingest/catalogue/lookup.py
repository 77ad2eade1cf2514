"""Finds rows of the catalogue: one version, the versions of a document, pages of a list, counts."""

from collections.abc import Collection, Sequence

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue.entry import Row, sha256
from ingest.catalogue.states import State
from ingest.catalogue.tables import texts, versions
from radrag.errors import Internal, NotFound

DELETED = "the version was deleted"
COUNTED = ("state", "topic", "category", "language")

# Made and compiled once: a publication asks each of them several times.
WANTED: sql.BindParameter[object] = sql.bindparam("wanted")
BY_NUMBER = sql.select(versions).where(versions.c.number == WANTED).with_for_update()
ITS_DOCUMENT = sql.select(versions.c.document_id).where(versions.c.number == WANTED)
OF_SAME_DOCUMENT = (
    sql.select(versions)
    .where(versions.c.document_id == ITS_DOCUMENT.scalar_subquery())
    .order_by(versions.c.number.desc())
    .with_for_update()
)
OF_DOCUMENT = (
    sql.select(versions)
    .where(versions.c.document_id == WANTED)
    .order_by(versions.c.number.desc())
    .with_for_update()
)


def newest(
    connection: Connection, document_id: str, version: str = "", states: Collection[State] = ()
) -> Row | None:
    """The newest row of a document: of this version and in these states, where given. Locked for a writer."""
    chosen = sql.select(versions).where(versions.c.document_id == document_id)
    if version:
        chosen = chosen.where(versions.c.version == version)
    if states:
        chosen = chosen.where(versions.c.state.in_([one.value for one in states]))
    return connection.execute(chosen.order_by(versions.c.number.desc()).limit(1).with_for_update()).first()


def known(connection: Connection, document_id: str, version: str = "", states: Collection[State] = ()) -> Row:
    """The same. Raises NotFound."""
    row = newest(connection, document_id, version, states)
    if row is None:
        what = f"document {document_id!r}" + (f" has no version {version!r}" if version else " is unknown")
        raise NotFound(what + (f" that is {' or '.join(states)}" if states else ""))
    return row


def numbered(connection: Connection, number: int) -> Row:
    """The row of this number, locked for a writer. Raises NotFound."""
    row = connection.execute(BY_NUMBER, {"wanted": number}).first()
    if row is None:
        raise NotFound(DELETED)
    return row


def with_others(connection: Connection, number: int) -> tuple[Row, list[Row]]:
    """The row of this number and the others of its document, newest first. Raises NotFound."""
    rows = connection.execute(OF_SAME_DOCUMENT, {"wanted": number}).all()
    found = next((row for row in rows if row.number == number), None)
    if found is None:
        raise NotFound(DELETED)
    return found, [row for row in rows if row is not found]


def of_document(connection: Connection, document_id: str, version: str = "") -> Sequence[Row]:
    """All rows of a document, newest first; of one version only, where given."""
    rows = connection.execute(OF_DOCUMENT, {"wanted": document_id}).all()
    return [row for row in rows if version in ("", row.version)]


def page(
    connection: Connection,
    states: Collection[State],
    topics: Collection[str],
    size: int,
    before: int | None = None,
) -> Sequence[Row]:
    """Rows in these states and topics (empty: all), newest first, those with a number below `before`."""
    chosen = sql.select(versions)
    if states:
        chosen = chosen.where(versions.c.state.in_([one.value for one in states]))
    if topics:
        chosen = chosen.where(versions.c.topic.in_(list(topics)))
    if before is not None:
        chosen = chosen.where(versions.c.number < before)
    return connection.execute(chosen.order_by(versions.c.number.desc()).limit(size)).all()


def in_states(connection: Connection, states: Collection[State]) -> Sequence[Row]:
    """All rows in these states, oldest first."""
    chosen = sql.select(versions).where(versions.c.state.in_([one.value for one in states]))
    return connection.execute(chosen.order_by(versions.c.number)).all()


def counts(connection: Connection) -> dict[str, dict[str, int]]:
    """How many versions there are by state, topic, category and language."""
    return {name: _counts(connection, versions.c[name]) for name in COUNTED}


def _counts(connection: Connection, column: "sql.Column[str]") -> dict[str, int]:
    chosen = sql.select(column, sql.func.count()).group_by(column).order_by(column)
    return {str(value): int(many) for value, many in connection.execute(chosen)}


def text(connection: Connection, digest: str) -> str:
    """A stored text; "" for no digest. Raises Internal when it is not what was stored."""
    if not digest:
        return ""
    found = connection.scalar(sql.select(texts.c.text).where(texts.c.sha256 == digest))
    if found is None or sha256(str(found)) != digest:
        raise Internal("a stored text is missing or not what it was", "TEXT_DAMAGED")
    return str(found)
