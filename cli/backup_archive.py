"""A backup: one tar file that begins with a manifest of every file's sha256.

It is written beside its name and read back before it gets it. Nothing in it is believed: a file that the
manifest lacks, or whose name leads elsewhere, is refused.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from radrag.errors import FailedPrecondition

MANIFEST, FORMAT = "manifest.json", 1
PIECE, MOST_MANIFEST = 1 << 20, 64 << 20


@dataclass(frozen=True)
class Contents:
    """What a backup holds: the sha256 of each file by its path, and how many bytes all have."""

    files: Mapping[str, str]
    size: int


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
            raise _damaged("what was read back is not what was written")
        part.rename(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return contents


def _write(out: BinaryIO, files: Mapping[str, Path], wanted: Mapping[str, str]) -> None:
    said = json.dumps({"format": FORMAT, "files": wanted}, sort_keys=True).encode()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(said)
        archive.addfile(head, io.BytesIO(said))
        for name in wanted:
            archive.add(files[name], name, recursive=False)


def read(path: Path, into: Path) -> Contents:
    """Writes every file of a backup below `into` and checks what is there then against its manifest.

    Raises FailedPrecondition for one that is damaged, cut off, or holds what it should not.
    """
    found: dict[str, str] = {}
    size = 0
    try:
        with tarfile.open(path, "r:") as archive:
            wanted = _manifest(archive)
            for member, data in _members(archive, wanted):
                size += member.size
                found[member.name] = _kept(data, into / member.name)
    except (tarfile.TarError, EOFError, ValueError, KeyError) as error:
        raise _damaged(type(error).__name__) from None
    wrong = sorted(name for name, sha256 in wanted.items() if found.get(name) != sha256)
    if wrong:
        raise _damaged(f"{len(wrong)} files are missing or changed, the first {wrong[0]}")
    return Contents(found, size)


def _manifest(archive: tarfile.TarFile) -> dict[str, str]:
    head = archive.next()
    data = archive.extractfile(head) if head and head.name == MANIFEST else None
    if head is None or data is None or head.size > MOST_MANIFEST:
        raise _damaged("it does not begin with its manifest")
    said = json.loads(data.read())
    if said["format"] != FORMAT:
        raise _damaged(f"its format is {said['format']}, not {FORMAT}")
    return dict(said["files"])


def _members(
    archive: tarfile.TarFile, wanted: Mapping[str, str]
) -> Iterator[tuple[tarfile.TarInfo, BinaryIO]]:
    seen: set[str] = set()
    while member := archive.next():
        parts = PurePosixPath(member.name)
        leads_out = parts.is_absolute() or ".." in parts.parts
        if not member.isreg() or leads_out or member.name not in wanted or member.name in seen:
            raise _damaged("it holds something that its manifest lacks")
        seen.add(member.name)
        data = archive.extractfile(member)
        if data is not None:
            yield member, cast("BinaryIO", data)


def _kept(data: BinaryIO, target: Path) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as out:
        while piece := data.read(PIECE):
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
        out.seek(0)
        return digest(out)  # of what is on the disk now


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


def _damaged(what: str) -> FailedPrecondition:
    return FailedPrecondition(f"the backup cannot be used: {what}", "BACKUP_DAMAGED")
