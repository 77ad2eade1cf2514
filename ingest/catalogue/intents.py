"""What is about to be done to catalogue and index both, noted first: a killed process leaves none unknown.

An intent is finished in the transaction that makes it true in the catalogue. Doing what it says once more
changes nothing, so anybody may do it again.
"""

from dataclasses import asdict, dataclass
from datetime import date

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue.history import now
from ingest.catalogue.states import Act
from ingest.catalogue.tables import intents


@dataclass(frozen=True)
class Intent:
    """PUBLISH a row by its `number`; RETIRE, END on `day`, or DELETE a version, or all when it is empty."""

    act: Act
    document_id: str
    version: str
    subject: str
    reason: str = ""
    day: date | None = None
    number: int | None = None


def begin(connection: Connection, intent: Intent) -> None:
    """Notes an intent; the same one again is one."""
    finish(connection, intent)
    values = {**asdict(intent), "act": intent.act.value, "at": now()}
    connection.execute(intents.insert().values(values))


def finish(connection: Connection, intent: Intent) -> None:
    """Forgets an intent: it came true, or it will not."""
    connection.execute(
        intents.delete().where(
            (intents.c.document_id == intent.document_id)
            & (intents.c.version == intent.version)
            & (intents.c.act == intent.act.value)
        )
    )


def begun(connection: Connection, document_id: str = "", until: int | None = None) -> list[Intent]:
    """The intents noted, oldest first: of one document, or older than an instant (microseconds), if given."""
    chosen = sql.select(intents).order_by(intents.c.at)
    if document_id:
        chosen = chosen.where(intents.c.document_id == document_id)
    if until is not None:
        chosen = chosen.where(intents.c.at <= until)
    return [
        Intent(Act(one.act), one.document_id, one.version, one.subject, one.reason, one.day, one.number)
        for one in connection.execute(chosen)
    ]
