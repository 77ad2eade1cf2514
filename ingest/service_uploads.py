"""Files handed in over the wire: received within limits, kept until their job is done."""

import asyncio
import hashlib
import os
import time
import uuid
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from radrag.errors import InvalidArgument

FORGOTTEN_SECONDS = 86_400.0  # a part file so old has lost its sender


@dataclass(frozen=True)
class Upload:
    """A received file, not yet kept under its job's key."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class Uploads:
    """A folder of files handed in, each at most `most_bytes`."""

    folder: Path
    most_bytes: int

    async def receive(self, pieces: AsyncIterator[bytes]) -> Upload:
        """Writes a file piece by piece. Raises InvalidArgument when it is too large or empty."""
        await asyncio.to_thread(self.folder.mkdir, parents=True, exist_ok=True)
        part = self.folder / f"{uuid.uuid4().hex}.part"
        try:
            return Upload(part, await self._written(part, pieces))
        except BaseException:  # refused, broken off or cancelled
            part.unlink(missing_ok=True)
            raise

    async def _written(self, part: Path, pieces: AsyncIterator[bytes]) -> str:
        digest, size = hashlib.sha256(), 0
        with part.open("wb") as file:
            async for piece in pieces:
                size += len(piece)
                if size > self.most_bytes:
                    raise InvalidArgument("data", f"must have at most {self.most_bytes:,} bytes in all")
                digest.update(piece)
                await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(_synced, file)
        if not size:
            raise InvalidArgument("data", "is missing; a file of at least 1 byte is needed")
        return digest.hexdigest()

    def path_of(self, key: str) -> Path:
        """Where the file of the job with this key is."""
        return self.folder / key

    async def keep(self, upload: Upload, key: str) -> None:
        """Keeps a received file for its job."""
        await asyncio.to_thread(os.replace, upload.path, self.path_of(key))

    async def drop(self, upload: Upload) -> None:
        """Forgets a received file."""
        await asyncio.to_thread(upload.path.unlink, missing_ok=True)

    async def sweep(self, pending: Collection[str]) -> None:
        """Removes files whose job is done or deleted, and parts whose sender is long gone."""
        await asyncio.to_thread(self._sweep, pending)

    def _sweep(self, pending: Collection[str]) -> None:
        for path in self.folder.glob("*"):
            age = time.time() - path.stat().st_mtime
            if age > FORGOTTEN_SECONDS or (path.suffix != ".part" and path.name not in pending and age > 60):
                path.unlink(missing_ok=True)


def _synced(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
