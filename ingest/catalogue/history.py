"""What was done to versions: written once, never changed; and whose approvals count."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import time_ns

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue.entry import Row
from ingest.catalogue.states import Act, State
from ingest.catalogue.tables import history

ITSELF = "radrag"
"""The subject of what follows from the calendar or from another act."""

ADDED = history.insert().inline()  # nobody asks for its id
OF_NUMBER = sql.select(history).where(history.c.number == sql.bindparam("wanted")).order_by(history.c.id)


@dataclass(frozen=True)
class Event:
    """One act: who did it, when (microseconds since 1970), why, and the state it led to."""

    act: Act
    before: State
    state: State
    subject: str
    at: int
    reason: str


def now() -> int:
    """Microseconds since 1970."""
    return time_ns() // 1000


def note(connection: Connection, row: Row, act: Act, state: State, *, subject: str, reason: str = "") -> None:
    """Writes down an act on the version in `row`."""
    values = {
        "number": row.number,
        "document_id": row.document_id,
        "version": row.version,
        "act": act.value,
        "before": row.state,
        "state": state.value,
        "subject": subject,
        "at": now(),
        "reason": reason,
    }
    connection.execute(ADDED, values)


def events_of(connection: Connection, number: int) -> list[Event]:
    """The acts on one version, oldest first."""
    return [
        Event(Act(one.act), State(one.before), State(one.state), one.subject, one.at, one.reason)
        for one in connection.execute(OF_NUMBER, {"wanted": number})
    ]


def voters(events: Iterable[Event]) -> list[str]:
    """The distinct people whose approvals count: those since the version last came into review."""
    counted: list[str] = []
    for event in events:
        reopened = event.act is Act.RETRY and event.state is State.IN_REVIEW
        if reopened or event.act in {Act.SUBMIT, Act.REJECT}:
            counted = []
        elif event.act in {Act.VOTE, Act.APPROVE} and event.subject not in counted:
            counted.append(event.subject)
    return counted
