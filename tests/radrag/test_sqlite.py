"""A new file that several processes open at once."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from radrag.sqlite import write_ahead


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Has the new file to itself, as whoever turns the log on has."""
    with closing(sqlite3.connect(tmp_path / "new.db", check_same_thread=False)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


@pytest.fixture
def second(tmp_path: Path, holder: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Comes after the holder, and would rather fail than wait."""
    with closing(sqlite3.connect(tmp_path / "new.db", timeout=0)) as connection:
        yield connection


def test_the_second_waits_until_the_first_lets_go(
    holder: sqlite3.Connection, second: sqlite3.Connection
) -> None:
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        second.execute("PRAGMA journal_mode = WAL")
    letting_go = Timer(0.2, holder.rollback)
    letting_go.start()
    write_ahead(second)
    letting_go.join()
    assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_it_does_not_wait_for_ever(second: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(second, seconds=0.05)


def test_what_is_no_lock_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database " * 100, encoding="ascii")
    with (
        closing(sqlite3.connect(tmp_path / "text.db")) as connection,
        pytest.raises(sqlite3.DatabaseError, match="not a database"),
    ):
        write_ahead(connection)


def test_whoever_meets_another_that_mends_the_log_after_a_crash_waits_too() -> None:
    refused = sqlite3.OperationalError("database is locked")
    refused.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
    answers: list[sqlite3.OperationalError | None] = [refused, refused, None]

    class Mended:
        def execute(self, statement: str, /) -> None:
            if answer := answers.pop(0):
                raise answer

    write_ahead(Mended())
    assert not answers
