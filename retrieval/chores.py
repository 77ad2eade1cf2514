"""The rows of the chores: editions whose points in the vector store may not fit the table, to be tidied."""

from dataclasses import dataclass
from time import time

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from retrieval.store import Collection
from retrieval.tables import chores


@dataclass(frozen=True)
class Chore:
    """An edition whose points may not fit the table: to be removed, or given their last day."""

    collection: Collection
    edition: str
    document_id: str


# Made and compiled once: every publication notes a chore and forgets it.
ADDED = chores.insert()
FORGOTTEN = chores.delete().where(
    chores.c.generation == sql.bindparam("its_generation"), chores.c.edition == sql.bindparam("its_edition")
)


def note(connection: Connection, chore: Chore) -> bool:
    """Notes a chore; one that is noted already is noted anew. Returns whether one was."""
    known = forget(connection, chore)
    values = {
        "generation": chore.collection.generation,
        "edition": chore.edition,
        "topic": chore.collection.topic,
        "document_id": chore.document_id,
        "since": int(time()),
    }
    connection.execute(ADDED, values)
    return known


def forget(connection: Connection, chore: Chore) -> bool:
    """Forgets a chore. Returns whether it was noted."""
    mine = {"its_generation": chore.collection.generation, "its_edition": chore.edition}
    return bool(connection.execute(FORGOTTEN, mine).rowcount)


def noted(connection: Connection, age: float) -> list[Chore]:
    """The chores noted at least `age` seconds ago, the oldest first."""
    chosen = sql.select(chores).where(chores.c.since <= int(time() - age)).order_by(chores.c.since)
    return [
        Chore(Collection(one.generation, one.topic), one.edition, one.document_id)
        for one in connection.execute(chosen)
    ]
