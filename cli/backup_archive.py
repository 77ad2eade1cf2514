"""A backup: one tar file that begins with a manifest of every file's sha256.

It is written beside its name and read back before it gets it. Nothing in it is believed: a file that the
manifest lacks, or whose name leads elsewhere, is refused, and so is more than the disk has room for.

It is compressed, because the index's logs are mostly holes: a few kilobytes and 32 MiB of nothing. Backups
from before that are plain tar files and are read too.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from radrag.errors import FailedPrecondition, NotFound

MANIFEST, FORMAT = "manifest.json", 1
MAGIC, LEVEL = (
    b"\x1f\x8b",
    1,
)  # of gzip; the quickest level is small enough, as holes are what there is to save
PIECE, MOST_MANIFEST = 1 << 16, 64 << 20
NOTHING = bytes(PIECE)
LEFT_FREE = 64 << 20  # of a disk that a backup is unpacked on
UNREADABLE = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class Contents:
    """What a backup holds: the sha256 of each file by its path, and how many bytes all have."""

    files: Mapping[str, str]
    size: int


class _Unusable(Exception):
    """What is wrong with a backup, in words that follow its name."""


def write(path: Path, files: Mapping[str, Path], read_back: Callable[[Path], Contents]) -> Contents:
    """Writes the files under their names, has all read back, and only then gives the backup its name.

    Raises OSError, what `read_back` raises, and FailedPrecondition when what was read back is not what was to
    be written.
    """
    part = path.with_name(path.name + ".part")
    wanted = {name: digest(source.open("rb")) for name, source in sorted(files.items())}
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            _write(out, files, wanted)
            out.flush()
            os.fsync(out.fileno())
        contents = read_back(part)
        if contents.files != wanted:
            raise _damaged(part, "what was read back is not what was written")
        part.rename(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return contents


def _write(out: BinaryIO, files: Mapping[str, Path], wanted: Mapping[str, str]) -> None:
    said = json.dumps({"format": FORMAT, "files": wanted}, sort_keys=True).encode()
    with (
        gzip.GzipFile("", "wb", LEVEL, out, mtime=0) as packed,  # without a name or a time of its own
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(said)
        archive.addfile(head, io.BytesIO(said))
        for name in wanted:
            archive.add(files[name], name, recursive=False)


def read(path: Path, into: Path) -> Contents:
    """Writes every file of a backup below `into` and checks what is there then against its manifest.

    Raises FailedPrecondition for one that is damaged, cut off, holds what it should not, or more than fits.
    """
    into.mkdir(parents=True, exist_ok=True)
    found: dict[str, str] = {}
    size, room = 0, _Room(into)
    try:
        with _opened(path) as archive:
            wanted = _manifest(archive)
            for member, data in _members(archive, wanted):
                size += member.size
                found[member.name] = _kept(data, into / member.name, room)
        _compare(found, wanted)
    except _Unusable as error:
        raise _damaged(path, str(error)) from None
    except UNREADABLE as error:
        cut_off = isinstance(error, EOFError) or "unexpected end" in str(error)
        raise _damaged(path, "it is cut off" if cut_off else "it is damaged") from None
    return Contents(found, size)


def refuse_what_is_no_file(path: Path) -> None:
    """Raises NotFound or FailedPrecondition where there is nothing to read a backup from."""
    if not path.exists():
        raise NotFound(f"{path}: there is no such file", "BACKUP_MISSING")
    if not path.is_file():
        raise _damaged(path, "it is no file")
    if not path.stat().st_size:
        raise _damaged(path, "it is empty")


def _compare(found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        raise _Unusable(f"it is cut off: {len(missing)} files are missing, the first {missing[0]}")
    changed = sorted(name for name in wanted if found[name] != wanted[name])
    if changed:
        raise _Unusable(f"it is damaged: {len(changed)} files are changed, the first {changed[0]}")


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    with path.open("rb") as file:
        packed = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        data = cast("BinaryIO", _Unpacked(fileobj=file, mode="rb")) if packed else file
        with _begun(data) as archive:
            yield archive
        # gzip's own checksum is compared at its end, which lies behind the padding of the tar file.
        if len(data.read(tarfile.RECORDSIZE + 1)) > tarfile.RECORDSIZE:
            raise _Unusable("something follows its end")


def _begun(data: BinaryIO) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=data, mode="r:")
    except (tarfile.ReadError, gzip.BadGzipFile, zlib.error):
        raise _Unusable("it is no backup of RadRAG") from None


class _Unpacked(gzip.GzipFile):
    """Refuses to hold much at once: a long header of zeros is short when packed."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MOST_MANIFEST + tarfile.BLOCKSIZE:
            raise _Unusable("a header is too long")
        return super().read(size)


class _Room:
    """What a disk has left for a backup: few packed bytes may become many."""

    def __init__(self, folder: Path) -> None:
        self._left = shutil.disk_usage(folder).free - LEFT_FREE

    def take(self, size: int) -> None:
        """Counts what is about to be written. Raises FailedPrecondition when it would fill the disk."""
        self._left -= size
        if self._left < 0:
            raise FailedPrecondition("the backup holds more than the disk has room for", "DISK_FULL")


def _manifest(archive: tarfile.TarFile) -> dict[str, str]:
    head = archive.next()
    data = archive.extractfile(head) if head and head.name == MANIFEST else None
    if head is None or data is None or head.size > MOST_MANIFEST:
        raise _Unusable("it is no backup of RadRAG, which begins with its manifest")
    said = json.loads(data.read())
    if said["format"] != FORMAT:
        raise _Unusable(f"its format is {said['format']}, not {FORMAT}")
    return dict(said["files"])


def _members(
    archive: tarfile.TarFile, wanted: Mapping[str, str]
) -> Iterator[tuple[tarfile.TarInfo, BinaryIO]]:
    seen: set[str] = set()
    while member := archive.next():
        parts = PurePosixPath(member.name)
        leads_out = parts.is_absolute() or ".." in parts.parts
        if (
            not member.isreg()
            or member.issparse()
            or leads_out
            or member.name not in wanted
            or member.name in seen
        ):
            raise _Unusable("it holds something that its manifest lacks")
        seen.add(member.name)
        data = archive.extractfile(member)
        if data is not None:
            yield member, cast("BinaryIO", data)


def _kept(data: BinaryIO, target: Path, room: _Room) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as out:
        while piece := data.read(PIECE):
            _put(out, piece, room)
        out.truncate()  # a hole at the end has nothing behind it that would make it part of the file
        out.flush()
        os.fsync(out.fileno())
        out.seek(0)
        return digest(out)  # of what is on the disk now


def _put(out: BinaryIO, piece: bytes, room: _Room) -> None:
    if piece == NOTHING[: len(piece)]:
        out.seek(len(piece), os.SEEK_CUR)  # leaves a hole, which takes no room
    else:
        room.take(len(piece))
        out.write(piece)


def digest(data: BinaryIO) -> str:
    """The sha256 of all that can be read, hex; closes it."""
    with data:
        return hashlib.file_digest(data, "sha256").hexdigest()  # type: ignore[arg-type]  # it has readinto


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _damaged(path: Path, what: str) -> FailedPrecondition:
    return FailedPrecondition(f"{path} cannot be used: {what}", "BACKUP_DAMAGED")
