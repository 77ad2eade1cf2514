"""What a publication costs, counted and not timed: statements of the version table, writes to the store."""

from collections.abc import Awaitable
from pathlib import Path

import sqlalchemy as sql
from sqlalchemy.engine import Engine

from retrieval.chores import Chore
from retrieval.edge_store import EdgeStore
from retrieval.store import Collection, Where
from retrieval.words import Words
from tests.retrieval.making import made
from tests.retrieval.running import room

STATEMENTS = 12


class Noting(EdgeStore):
    """A store that counts what it is told to delete."""

    deletions = 0

    async def delete(self, collection: Collection, where: Where) -> None:
        self.deletions += 1
        await super().delete(collection, where)


async def statements(work: Awaitable[object]) -> list[str]:
    """What a piece of work asks of the version table."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        asked.append(" ".join(statement.split()))

    sql.event.listen(Engine, "before_cursor_execute", note)
    try:
        await work
    finally:
        sql.event.remove(Engine, "before_cursor_execute", note)
    return asked


def lists(asked: list[str]) -> int:
    """How many statements name every edition, which is more work the more there are."""
    return sum(one.startswith("SELECT versions.edition FROM") for one in asked)


async def test_a_publication_asks_for_what_changed_and_a_deletion_for_what_is_left(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.publish(made("first", "First."), made("other", "Other."))
        asked = await statements(here.publish(made("second", "Second.")))
        assert len(asked) <= STATEMENTS, asked
        assert lists(asked) == 0
        assert lists(await statements(here.index.delete("first"))) == 1
        held = here.versions.snapshot.generations["g1"].live()
        assert {one.document.document_id for one in held} == {"other", "second"}


async def test_the_store_is_told_to_delete_only_what_a_publication_left(tmp_path: Path) -> None:
    store, one = Noting(tmp_path / "edge"), made("second", "Second.")
    async with room(tmp_path, store) as here:
        await here.publish(made("first", "First."))
        assert store.deletions == 0
        chore = Chore(Collection("g1", one.header.document.topic), one.header.edition, "second")
        assert await here.versions.begin(chore) is False
        await here.publish(one)
        assert store.deletions == 1


def test_a_word_is_stemmed_once() -> None:
    words = Words(frozenset())
    once = words.terms("Doses of doses")
    assert (once, words._term.cache_info().misses) == (["dose", "of", "dose"], 2)
