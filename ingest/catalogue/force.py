"""The catalogue's side of what comes into force and goes out of it: begun as an intent, then made true."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue import intents, tables
from ingest.catalogue.entry import Row
from ingest.catalogue.history import events_of, note, voters
from ingest.catalogue.intents import Intent
from ingest.catalogue.lookup import known, newest, numbered, of_document, with_others
from ingest.catalogue.moves import check_reason, expire, move
from ingest.catalogue.states import SEARCHABLE, Act, State, after
from ingest.catalogue.tables import bands, chunks, jobs, texts, versions
from radrag.errors import FailedPrecondition, InvalidArgument, NotFound

WITHDRAWING = (Act.DELETE, Act.RETIRE)
DATED = versions.update().where(versions.c.number == sql.bindparam("wanted"))


@dataclass(frozen=True)
class Term:
    """A publication that has begun: its row, and the days in force that the index is to be told."""

    number: int
    first_day: date
    last_day: date | None
    approved_by: str


def begin_publishing(connection: Connection, number: int, subject: str, needed: int, today: date) -> Term:
    """Notes that a version is to be published.

    Raises FailedPrecondition unless it is approved (by `needed` different people) or published already.
    """
    row = numbered(connection, number)
    after(State(row.state), Act.PUBLISH)
    _refuse_beside_withdrawal(connection, row)
    if State(row.state) is State.APPROVED and len(voters(events_of(connection, number))) < needed:
        raise FailedPrecondition(
            f"{needed} different people must approve it; reject and review again", "TWO_PERSON"
        )
    first, last = row.first_day or row.valid_from or today, row.last_day or row.valid_to
    if last is not None and last <= first:
        raise InvalidArgument(
            "valid_to", "has passed already; a version of the past needs its valid_from too"
        )
    if (first, last) != (row.first_day, row.last_day):
        connection.execute(DATED, {"wanted": number, "first_day": first, "last_day": last})
    intents.begin(connection, _publication(row, subject))
    return Term(number, first, last, row.approved_by)


def finish_publishing(connection: Connection, number: int, subject: str, today: date) -> Row:
    """Makes a publication true: the version is published, and what it replaces superseded.

    Raises NotFound or FailedPrecondition when it was deleted, or its approval taken back, meanwhile.
    """
    row, others = with_others(connection, number)
    after(State(row.state), Act.PUBLISH)
    for old in others:
        if State(old.state) in SEARCHABLE:
            _supersede(connection, old, row)
    row = move(connection, row, Act.PUBLISH, subject)
    intents.finish(connection, _publication(row, subject))
    return expire(connection, row) if row.last_day and row.last_day <= today else row


def _publication(row: Row, subject: str) -> Intent:
    return Intent(Act.PUBLISH, row.document_id, row.version, subject, number=row.number)


def _supersede(connection: Connection, old: Row, new: Row) -> None:
    """As the index does: an old version ends, at the latest, when the new one begins."""
    ends = [day for day in (old.last_day, new.first_day) if day is not None]
    last = max(old.first_day or min(ends), min(ends))
    if State(old.state) is not State.SUPERSEDED:
        move(connection, old, Act.SUPERSEDE, reason=f"by version {new.version}", last_day=last)
    elif last != old.last_day:
        move(connection, old, Act.END, reason=f"version {new.version} begins", last_day=last)


def _refuse_beside_withdrawal(connection: Connection, row: Row) -> None:
    for intent in intents.of_document(connection, row.document_id):
        if intent.act in WITHDRAWING and intent.version in ("", row.version):
            raise FailedPrecondition(
                f"its {intent.act.value} has begun and is not finished", "BEING_WITHDRAWN"
            )


def begin_retiring(connection: Connection, intent: Intent) -> list[str]:
    """Notes that versions are to be retired, or to end on the intent's day. Returns which.

    Raises NotFound, FailedPrecondition when nothing was published, InvalidArgument for an impossible day.
    """
    check_reason(intent.reason)
    known(connection, intent.document_id, intent.version)
    rows = retirable(connection, intent)
    if not rows:
        raise FailedPrecondition(
            "only a version that was published can be retired; reject it", "NOT_PUBLISHED"
        )
    if intent.day and any(row.first_day and intent.day <= row.first_day for row in rows):
        raise InvalidArgument("valid_to", "must be later than the version's first day in force")
    intents.begin(connection, intent)
    return sorted({row.version for row in rows})


def retirable(connection: Connection, intent: Intent) -> Sequence[Row]:
    """What an intent to retire is about: to end without a version, only the one in force is meant."""
    if intent.act is Act.END and not intent.version:
        row = newest(connection, intent.document_id, states=(State.PUBLISHED, State.EXPIRED))
        return [row] if row is not None else []
    rows = of_document(connection, intent.document_id, intent.version)
    return [row for row in rows if State(row.state) in SEARCHABLE]


def finish_retiring(connection: Connection, intent: Intent, today: date) -> None:
    """Makes it true in the catalogue."""
    for row in retirable(connection, intent):
        ended = {"last_day": intent.day} if intent.act is Act.END else {}
        moved = move(connection, row, intent.act, intent.subject, intent.reason, **ended)
        if State(moved.state) is State.PUBLISHED and moved.last_day <= today:
            expire(connection, moved)
    intents.finish(connection, intent)


def begin_deleting(connection: Connection, intent: Intent) -> None:
    """Notes that a version, or all of a document, are to be deleted. Raises NotFound."""
    rows = of_document(connection, intent.document_id, intent.version)
    if not rows and intent not in intents.of_document(connection, intent.document_id):
        known(connection, intent.document_id, intent.version)
    intents.begin(connection, intent)


def finish_deleting(connection: Connection, intent: Intent) -> list[str]:
    """Takes the rows out with their chunks, jobs and texts; the history stays. Returns the versions."""
    rows = of_document(connection, intent.document_id, intent.version)
    for row in rows:
        state = after(State(row.state), Act.DELETE)
        note(connection, row, Act.DELETE, state, subject=intent.subject, reason=intent.reason)
    numbers = [row.number for row in rows]
    for table in (chunks, bands, versions):
        connection.execute(table.delete().where(table.c.number.in_(numbers)))
    _drop_unused(connection, {digest for row in rows for digest in (row.text_sha256, row.raw_sha256)})
    for table in (jobs, tables.intents):
        mine = table.c.document_id == intent.document_id
        if intent.version:
            mine &= table.c.version == intent.version
        connection.execute(table.delete().where(mine))
    return sorted({row.version for row in rows if row.version})


def _drop_unused(connection: Connection, digests: set[str]) -> None:
    used = sql.select(versions.c.text_sha256).union(sql.select(versions.c.raw_sha256))
    connection.execute(texts.delete().where(texts.c.sha256.in_(digests) & texts.c.sha256.not_in(used)))


def expire_due(connection: Connection, today: date) -> int:
    """Notes which published versions' last day has passed. Returns how many."""
    due = (versions.c.state == State.PUBLISHED.value) & (versions.c.last_day <= today)
    rows = connection.execute(sql.select(versions).where(due).with_for_update()).all()
    for row in rows:
        expire(connection, row)
    return len(rows)


def gone(connection: Connection, number: int) -> bool:
    """Whether a version may no longer be in the index: it was deleted, or nobody's approval covers it."""
    try:
        state = State(numbered(connection, number).state)
    except NotFound:
        return True
    return state is not State.APPROVED and state not in SEARCHABLE
