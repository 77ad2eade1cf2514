"""SQLite files that several processes may open at once."""

import sqlite3
import time
from typing import Protocol


class Executes(Protocol):
    """A cursor or a connection of sqlite3."""

    def execute(self, statement: str, /) -> object:
        """Runs a statement."""


PAUSE = 0.01  # seconds
PRIMARY = 0xFF  # of an error's code; above it SQLite says which kind of busy it is


def write_ahead(database: Executes, seconds: float = 30.0) -> None:
    """Turns the write-ahead log on.

    Whoever does so first has a new file to itself, and SQLite refuses the others at once, whatever their
    busy_timeout: they ask again. Raises sqlite3.OperationalError where that lasts for `seconds`.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(PAUSE)
