"""Moves a version from one state to the next, by the table of states, and writes it down."""

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue.entry import Row, Value
from ingest.catalogue.history import ITSELF, events_of, note, now, voters
from ingest.catalogue.lookup import numbered
from ingest.catalogue.states import Act, State, after
from ingest.catalogue.tables import versions
from radrag.errors import InvalidArgument, PermissionDenied

CHANGED = versions.update().where(versions.c.number == sql.bindparam("wanted")).returning(versions)
LONGEST_REASON, LONGEST_APPROVERS = 2000, 200


def move(
    connection: Connection, row: Row, act: Act, subject: str = ITSELF, reason: str = "", **values: Value
) -> Row:
    """The row after the act. Raises FailedPrecondition where its state does not allow it."""
    state = after(State(row.state), act)
    check_reason(reason)
    note(connection, row, act, state, subject=subject, reason=reason)
    if state.value != row.state:
        values |= {"state": state.value, "since": now()}
    if values:
        return connection.execute(CHANGED, {**values, "wanted": row.number}).one()
    return numbered(connection, row.number)


def check_reason(reason: str) -> None:
    """Raises InvalidArgument for a reason nobody wants to read."""
    if len(reason) > LONGEST_REASON:
        raise InvalidArgument("reason", f"must have at most {LONGEST_REASON:,} characters")


def approve(connection: Connection, row: Row, subject: str, reason: str, needed: int) -> Row:
    """Counts one approval of a version in review; `needed` different people make it approved.

    Raises PermissionDenied when this person's approval counts already.
    """
    after(State(row.state), Act.APPROVE)
    counted = voters(events_of(connection, row.number))
    if subject in counted:
        raise PermissionDenied(f"{subject} approved it already; another person must", "SAME_REVIEWER")
    counted.append(subject)
    if len(counted) < needed:
        return move(connection, row, Act.VOTE, subject, reason)
    names = ", ".join(counted)[:LONGEST_APPROVERS]
    return move(connection, row, Act.APPROVE, subject, reason, approved_by=names)


def approved_with(connection: Connection, row: Row, subject: str, reason: str, needed: int) -> Row:
    """The same where it is in review and this person's approval does not count yet; else the row as it is."""
    if State(row.state) is not State.IN_REVIEW:
        return row
    try:
        return approve(connection, row, subject, reason, needed)
    except PermissionDenied:  # approved by the same person before: it waits for another one
        return row


def reject(connection: Connection, row: Row, subject: str, reason: str) -> Row:
    """Refuses a version in review, or takes an approval back before it is published."""
    if not reason.strip():
        raise InvalidArgument("reason", "is required to reject a version")
    return move(connection, row, Act.REJECT, subject, reason, approved_by="")


def retry(connection: Connection, row: Row, subject: str, reason: str) -> Row:
    """Reopens a version: what was decided is to be decided again, what was not read to be read again."""
    reopened = after(State(row.state), Act.RETRY).value != row.state
    values: dict[str, Value] = {"approved_by": "", "first_day": None, "last_day": None} if reopened else {}
    return move(connection, row, Act.RETRY, subject, reason, **values)


def expire(connection: Connection, row: Row) -> Row:
    """Notes that a published version's last day has passed."""
    return move(connection, row, Act.EXPIRE, reason=f"its last day passed; it ended on {row.last_day}")


def drop_unread(connection: Connection, document_id: str) -> None:
    """Forgets the rows of a document that were never read; their history stays."""
    unread = (versions.c.document_id == document_id) & (versions.c.version == "")
    connection.execute(versions.delete().where(unread))
