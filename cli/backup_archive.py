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
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from cli.backup_unpack import MOST_AT_ONCE, Room, Unusable, digest, kept, opened
from radrag.errors import FailedPrecondition, NotFound

MANIFEST, FORMAT = "manifest.json", 1
LEVEL = 1  # of gzip: the quickest is small enough, as holes are what there is to save
UNREADABLE = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError, TypeError)


@dataclass(frozen=True)
class Contents:
    """What a backup holds: the sha256 of each file by its path, and how many bytes all have."""

    files: Mapping[str, str]
    size: int


def write(path: Path, files: Mapping[str, Path], read_back: Callable[[Path], Contents]) -> Contents:
    """Writes the files under their names, has all read back, and only then gives the backup its name.

    Raises OSError, what `read_back` raises, and FailedPrecondition when a file changes meanwhile or what was
    read back is not what was to be written.
    """
    part = path.with_name(path.name + ".part")
    wanted = {name: _digest_of(name, source) for name, source in sorted(files.items())}
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
            _add(archive, name, files[name], wanted[name])


def _digest_of(name: str, source: Path) -> str:
    try:
        return digest(source.open("rb"))
    except FileNotFoundError:
        raise being_written(name) from None


def _add(archive: tarfile.TarFile, name: str, source: Path, sha256: str) -> None:
    """All files are read once before the first is written: unchanged since, they are of one moment."""
    try:
        file = source.open("rb")
    except FileNotFoundError:
        raise being_written(name) from None
    with file:
        member = archive.gettarinfo(arcname=name, fileobj=file)
        data = _Hashed(file)
        archive.addfile(member, cast("BinaryIO", data))
    if data.sha256.hexdigest() != sha256:
        raise being_written(name)


class _Hashed:
    """A file as it is read; where it became shorter meanwhile, the rest reads as zeros."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        piece = self._file.read(size)
        self.sha256.update(piece)
        return piece.ljust(size, b"\0")


def being_written(name: str) -> FailedPrecondition:
    """What a backup ends in when a file of its home changes under its hands."""
    text = f"{name} changed meanwhile, somebody writes there: stop the services and every ingest first"
    return FailedPrecondition(text, "BEING_WRITTEN")


def read(path: Path, into: Path) -> Contents:
    """Writes every file of a backup below `into` and checks what is there then against its manifest.

    Raises FailedPrecondition for one that is damaged, cut off, holds what it should not, or more than fits.
    """
    into.mkdir(parents=True, exist_ok=True)
    found: dict[str, str] = {}
    size, room = 0, Room(into)
    try:
        with opened(path) as archive:
            wanted = _manifest(archive)
            for member, data in _members(archive, wanted):
                size += member.size
                found[member.name] = kept(data, into / member.name, room)
        _compare(found, wanted)
    except Unusable as error:
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
        raise Unusable(f"it is cut off: {len(missing)} files are missing, the first {missing[0]}")
    changed = sorted(name for name in wanted if found[name] != wanted[name])
    if changed:
        raise Unusable(f"it is damaged: {len(changed)} files are changed, the first {changed[0]}")


def _manifest(archive: tarfile.TarFile) -> dict[str, str]:
    head = archive.next()
    data = archive.extractfile(head) if head and head.name == MANIFEST else None
    if head is None or data is None or head.size > MOST_AT_ONCE:
        raise Unusable("it is no backup of RadRAG, which begins with its manifest")
    said = json.loads(data.read())
    if said["format"] != FORMAT:
        raise Unusable(f"its format is {said['format']}, not {FORMAT}")
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
            raise Unusable("it holds something that its manifest lacks")
        seen.add(member.name)
        data = archive.extractfile(member)
        if data is not None:
            yield member, cast("BinaryIO", data)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _damaged(path: Path, what: str) -> FailedPrecondition:
    return FailedPrecondition(f"{path} cannot be used: {what}", "BACKUP_DAMAGED")
