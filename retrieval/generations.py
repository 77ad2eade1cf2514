"""The rows of the generations: one is added once, and removed with all that it holds."""

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from radrag.errors import FailedPrecondition
from retrieval.snapshot import Generation
from retrieval.tables import chores, generation_row, generations, state, versions

# Made and compiled once: every publication asks for them.
NEXT_REVISION = state.update().values(revision=state.c.revision + 1).returning(state.c.revision)
NOTED = sql.select(generations).where(generations.c.name == sql.bindparam("wanted"))


def next_revision(connection: Connection) -> int:
    """Takes the next revision. Comes first in a transaction: the row it locks puts writers in line."""
    return int(connection.execute(NEXT_REVISION).scalar_one())


def add(connection: Connection, generation: Generation) -> None:
    """Notes a generation without versions. Raises FailedPrecondition when there is one of that name."""
    next_revision(connection)
    if noted(connection, generation.name) is not None:
        raise FailedPrecondition(f"generation {generation.name!r} exists", "GENERATION_EXISTS")
    connection.execute(generations.insert().values(generation_row(generation)))


def add_first(connection: Connection, generation: Generation) -> None:
    """Notes the first generation; one that is there stays, unless nothing was ever written to it."""
    # Whoever publishes first may come here after somebody else's first publication was committed.
    next_revision(connection)
    mine = [table.c.generation == generation.name for table in (versions, chores)]
    used = any(connection.scalar(sql.select(sql.exists().where(one))) for one in mine)
    if not used and noted(connection, generation.name) != generation_row(generation):
        remove(connection, generation.name)
        add(connection, generation)


def noted(connection: Connection, name: str) -> dict[str, str] | None:
    """The row of a generation, if there is one."""
    found = connection.execute(NOTED, {"wanted": name}).mappings().first()
    return None if found is None else dict(found)


def remove(connection: Connection, name: str) -> None:
    """Forgets a generation with its versions and chores."""
    next_revision(connection)
    connection.execute(generations.delete().where(generations.c.name == name))
    connection.execute(versions.delete().where(versions.c.generation == name))
    connection.execute(chores.delete().where(chores.c.generation == name))
