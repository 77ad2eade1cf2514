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


def note(connection: Connection, chore: Chore) -> None:
    """Notes a chore; one that is noted already is noted anew."""
    forget(connection, chore)
    connection.execute(
        chores.insert().values(
            generation=chore.collection.generation,
            edition=chore.edition,
            topic=chore.collection.topic,
            document_id=chore.document_id,
            since=int(time()),
        )
    )


def forget(connection: Connection, chore: Chore) -> None:
    """Forgets a chore."""
    connection.execute(
        chores.delete().where(
            (chores.c.generation == chore.collection.generation) & (chores.c.edition == chore.edition)
        )
    )


def noted(connection: Connection, age: float) -> list[Chore]:
    """The chores noted at least `age` seconds ago, the oldest first."""
    chosen = sql.select(chores).where(chores.c.since <= int(time() - age)).order_by(chores.c.since)
    return [
        Chore(Collection(one.generation, one.topic), one.edition, one.document_id)
        for one in connection.execute(chosen)
    ]
