"""What is about to be done to catalogue and index both, noted first: a killed process leaves none unknown.

An intent is finished in the transaction that makes it true in the catalogue. Doing what it says once more
changes nothing, so anybody may do it again.
"""

from dataclasses import asdict, dataclass
from datetime import date

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from ingest.catalogue.history import now
from ingest.catalogue.states import Act
from ingest.catalogue.tables import intents

KEY = ("document_id", "version", "act")
REST = [column.name for column in intents.c if column.name not in KEY]


def _noted(added: sqlite.Insert | postgresql.Insert) -> sql.Insert:
    return added.on_conflict_do_update(index_elements=KEY, set_={name: added.excluded[name] for name in REST})


# Made and compiled once: every publication notes an intent and forgets it.
NOTED = {"sqlite": _noted(sqlite.insert(intents)), "postgresql": _noted(postgresql.insert(intents))}
FINISHED = intents.delete().where(*(intents.c[name] == sql.bindparam(f"its_{name}") for name in KEY))
OF_DOCUMENT = (
    sql.select(intents).where(intents.c.document_id == sql.bindparam("wanted")).order_by(intents.c.at)
)


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
    values = {**asdict(intent), "act": intent.act.value, "at": now()}
    connection.execute(NOTED[connection.dialect.name], values)


def finish(connection: Connection, intent: Intent) -> None:
    """Forgets an intent: it came true, or it will not."""
    key = {"its_document_id": intent.document_id, "its_version": intent.version, "its_act": intent.act.value}
    connection.execute(FINISHED, key)


def begun(connection: Connection, until: int | None = None) -> list[Intent]:
    """The intents noted, oldest first: all, or those older than an instant (microseconds)."""
    chosen = sql.select(intents).order_by(intents.c.at)
    if until is not None:
        chosen = chosen.where(intents.c.at <= until)
    return [_intent(one) for one in connection.execute(chosen)]


def of_document(connection: Connection, document_id: str) -> list[Intent]:
    """The same of one document."""
    return [_intent(one) for one in connection.execute(OF_DOCUMENT, {"wanted": document_id})]


def _intent(one: "sql.Row[tuple[object, ...]]") -> Intent:
    return Intent(Act(one.act), one.document_id, one.version, one.subject, one.reason, one.day, one.number)
