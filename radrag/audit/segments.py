"""The files of a chain: 00000001.jsonl and so on, only ever appended to; one process has them at a time."""

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MEGABYTES = 64
READ_BYTES = 1 << 16


class Damaged(OSError):
    """The file is not as this process left it."""


def files(folder: Path) -> list[Path]:
    """The segments in their order."""
    return sorted(folder.glob("[0-9]*.jsonl"))


def lines(folder: Path) -> Iterator[bytes]:
    """Every line of the chain, in order, with its line end if it has one."""
    for path in files(folder):
        with path.open("rb") as opened:
            yield from opened


class Segments:
    """The end of a chain, open for appending. Every method raises OSError when the disk does.

    `wait` for the process that has the chain; without it a chain that is taken is a BlockingIOError.
    """

    def __init__(self, folder: Path, *, wait: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder, self._most = folder, MEGABYTES << 20
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            self._open(files(folder)[-1] if files(folder) else folder / _name(1))
        except BaseException:
            os.close(self._lock)
            raise
        self.torn = self._drop_torn_line()

    def last_line(self) -> bytes:
        """The newest line; empty where there is none."""
        for path in reversed(files(self._folder)):
            if line := _last_line(path):
                return line
        return b""

    def append(self, text: bytes, sync: bool) -> None:
        """Adds whole lines; with `sync` they are on the disk when it returns. A failure adds nothing."""
        self._check()
        if self._size and self._size + len(text) > self._most:
            self._next()
        try:
            written = os.write(self._file, text)
            if written != len(text):
                raise OSError("the disk took a part only")
            if sync:
                os.fdatasync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(text)

    def sync(self) -> None:
        """Waits until all that was added is on the disk."""
        os.fdatasync(self._file)

    def close(self) -> None:
        """Lets go of the chain."""
        os.close(self._file)
        os.close(self._lock)

    def _check(self) -> None:
        """Nobody else may have cut, grown or replaced the file while we had it."""
        there = os.stat(self._path)
        if (there.st_size, there.st_ino, there.st_dev) != (self._size, *self._is):
            raise Damaged(f"{self._path.name} was changed by somebody else")

    def _open(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, stat.S_IRUSR | stat.S_IWUSR)
        here = os.fstat(self._file)
        self._size, self._is = here.st_size, (here.st_ino, here.st_dev)
        _sync_folder(self._folder)

    def _next(self) -> None:
        os.fdatasync(self._file)
        os.close(self._file)
        self._open(self._folder / _name(int(self._path.stem) + 1))

    def _drop_torn_line(self) -> int:
        """Takes off what a killed process left of a line that it told nobody was written; its bytes."""
        whole = _whole(self._path)
        torn = self._size - whole
        if torn:
            os.ftruncate(self._file, whole)
            self._size = whole
        return torn


def _name(number: int) -> str:
    return f"{number:08}.jsonl"


def _whole(path: Path) -> int:
    """The bytes of a file up to its last line end."""
    with path.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END)
        while end:
            start = opened.seek(max(0, end - READ_BYTES))
            at = opened.read(end - start).rfind(b"\n")
            if at >= 0:
                return start + at + 1
            end = start
    return 0


def _last_line(path: Path) -> bytes:
    with path.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, end - READ_BYTES))
        return (opened.read().splitlines(keepends=True) or [b""])[-1]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
