"""Vectors and scores kept on disk, so that a second run of an experiment pays for nothing twice."""

import hashlib
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radrag.sqlite import write_ahead

Numbers = NDArray[np.float32]


class NumberCache:
    """Arrays of float32 by key, in one SQLite file per fingerprint: another model never reads these."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self._database = sqlite3.connect(folder / f"{name}.sqlite", timeout=60)
        # A power cut may cost the last numbers, never the file; so no write waits for the disk.
        write_ahead(self._database)
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS numbers (key BLOB PRIMARY KEY, width INT, data BLOB)"
        )

    async def get(self, key: str, compute: Callable[[], Awaitable[Numbers]]) -> Numbers:
        """The array [rows, columns] under `key`, computed and kept when it is not there yet."""
        digest = hashlib.sha256(key.encode()).digest()
        row = self._database.execute("SELECT width, data FROM numbers WHERE key = ?", (digest,)).fetchone()
        if row is not None:
            return np.frombuffer(row[1], dtype=np.float32).reshape(-1, row[0])
        values = np.ascontiguousarray(await compute(), dtype=np.float32)
        with self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?)", (digest, values.shape[1], values.tobytes())
            )
        return values

    def close(self) -> None:
        """Closes the file."""
        self._database.close()
