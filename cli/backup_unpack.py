"""A backup's file unpacked onto a disk: never more at once, nor in all, than there is room for."""

import gzip
import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from radrag.errors import FailedPrecondition

MAGIC = b"\x1f\x8b"  # of gzip
PIECE, MOST_AT_ONCE = 1 << 16, 64 << 20
NOTHING = bytes(PIECE)
LEFT_FREE = 64 << 20  # of the disk


class Unusable(Exception):
    """What is wrong with a backup, in words that follow its name."""


@contextmanager
def opened(path: Path) -> Iterator[tarfile.TarFile]:
    """The tar file in a backup, packed or plain. Raises Unusable."""
    with path.open("rb") as file:
        packed = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        data = cast("BinaryIO", _Unpacked(fileobj=file, mode="rb")) if packed else file
        with _begun(data) as archive:
            yield archive
        # gzip's own checksum is compared at its end, which lies behind the padding of the tar file.
        if len(data.read(tarfile.RECORDSIZE + 1)) > tarfile.RECORDSIZE:
            raise Unusable("something follows its end")


def _begun(data: BinaryIO) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=data, mode="r:")
    except (tarfile.ReadError, gzip.BadGzipFile, zlib.error):
        raise Unusable("it is no backup of RadRAG") from None


class _Unpacked(gzip.GzipFile):
    """Refuses to hold much at once: a long header of zeros is short when packed."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MOST_AT_ONCE + tarfile.BLOCKSIZE:
            raise Unusable("a header is too long")
        return super().read(size)


class Room:
    """What a disk has left for a backup: few packed bytes may become many."""

    def __init__(self, folder: Path) -> None:
        self._left = shutil.disk_usage(folder).free - LEFT_FREE

    def take(self, size: int) -> None:
        """Counts what is about to be written. Raises FailedPrecondition when it would fill the disk."""
        self._left -= size
        if self._left < 0:
            raise FailedPrecondition("the backup holds more than the disk has room for", "DISK_FULL")


def digest(data: BinaryIO) -> str:
    """The sha256 of all that can be read, hex; closes it."""
    with data:
        return hashlib.file_digest(data, "sha256").hexdigest()  # type: ignore[arg-type]  # it has readinto


def kept(data: BinaryIO, target: Path, room: Room) -> str:
    """Writes a file, its holes as holes. Returns its sha256. Raises FailedPrecondition without room."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as out:
        while piece := data.read(PIECE):
            _put(out, piece, room)
        out.truncate()  # a hole at the end has nothing behind it that would make it part of the file
        out.flush()
        os.fsync(out.fileno())
        out.seek(0)
        return digest(out)  # of what is on the disk now


def _put(out: BinaryIO, piece: bytes, room: Room) -> None:
    if piece == NOTHING[: len(piece)]:
        out.seek(len(piece), os.SEEK_CUR)  # leaves a hole, which takes no room
    else:
        room.take(len(piece))
        out.write(piece)
