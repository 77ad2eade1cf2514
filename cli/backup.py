"""`radrag backup create | verify | restore FILE`: catalogue, index, uploads, audit trail, as of one moment.

The services must be down: what they hold open is on the disk as a whole only then. Verifying reads the backup
back as a restore would, opens both databases and checks the audit trail.
"""

import argparse
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from cli import backup_archive as archive
from cli import places, services
from cli.audit_check import chains, checked
from cli.exits import Exit
from cli.terminal import Terminal
from radrag.audit import heads, opening
from radrag.errors import FailedPrecondition
from radrag.settings import Settings

INDEX, DATABASES = "index", ("catalogue.db", "index/versions.sqlite")
PARTS = ("catalogue.db", "uploads", INDEX, opening.FOLDER)  # below the home
LOG = "-wal"  # SQLite's, beside a database that was not closed; what is in -shm it makes again from that
MADE_AGAIN = {f"{name}-shm" for name in DATABASES}


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Says what the backup holds. Raises NotFound without one, FailedPrecondition for one of no use."""
    try:
        contents = _done(given, environ)
    except OSError as error:  # a full disk, a folder that is not ours
        raise FailedPrecondition(f"{error.filename or given.file}: {error.strerror}", "FILE_ERROR") from error
    said = {"file": str(given.file), "files": len(contents.files), "bytes": contents.size}
    if given.json:
        screen.json(said)
    else:
        screen.text(f"{given.file}: {said['files']} files, {contents.size:,} bytes, whole")
    return Exit.OK


def _done(given: argparse.Namespace, environ: Mapping[str, str]) -> archive.Contents:
    settings = Settings.from_environ(environ)
    if given.action == "verify":
        return verified(given.file)
    refuse_what_is_elsewhere(settings)
    refuse_while_up(settings, environ)
    parts = where(settings, environ)
    return create(given.file, parts) if given.action == "create" else restore(given.file, parts)


def create(path: Path, parts: Mapping[str, Path]) -> archive.Contents:
    """Writes a backup and verifies it. An older one of that name is never touched.

    Raises FailedPrecondition when somebody writes in the home meanwhile.
    """
    if path.exists():
        raise FailedPrecondition(f"{path} exists", "BACKUP_EXISTS")
    files = dict(_files(parts))
    if DATABASES[0] not in files:
        raise FailedPrecondition(f"there is no catalogue at {parts[PARTS[0]]}", "NOTHING_TO_BACK_UP")

    def read_back(part: Path) -> archive.Contents:
        if other := files.keys() ^ dict(_files(parts)).keys():
            raise archive.being_written(min(other))
        return verified(part)

    return archive.write(path, files, read_back)


def verified(path: Path) -> archive.Contents:
    """Reads a backup back into a folder beside it and looks at what came of it.

    Raises NotFound and FailedPrecondition.
    """
    archive.refuse_what_is_no_file(path)
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".verify-") as folder:
        return _looked_at(path, Path(folder))


def restore(path: Path, parts: Mapping[str, Path]) -> archive.Contents:
    """Puts a backup in place, checked before. Raises FailedPrecondition where something is there."""
    archive.refuse_what_is_no_file(path)
    there = [str(one) for one in parts.values() if one.exists() and (one.is_file() or any(one.iterdir()))]
    if there:
        raise FailedPrecondition(f"a restore goes to an empty home; there is {there[0]}", "HOME_NOT_EMPTY")
    home = parts[PARTS[0]].parent
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home, prefix=".restore-") as folder:
        contents = _looked_at(path, Path(folder))
        for name, target in reversed(
            list(parts.items())
        ):  # the catalogue last: with it there is a knowledge base
            if (source := Path(folder) / name).exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_dir():
                    target.rmdir()
                source.rename(target)
    return contents


def _looked_at(path: Path, folder: Path) -> archive.Contents:
    contents = archive.read(path, folder)
    for name in DATABASES:
        if (folder / name).exists():
            _check_database(folder / name)
    _check_audit(folder / opening.FOLDER)
    return contents


def _check_database(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as database:
            said = [row[0] for row in database.execute("PRAGMA integrity_check")]
            said += [f"a foreign key of {row[0]}" for row in database.execute("PRAGMA foreign_key_check")]
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        said = [type(error).__name__]
    if said != ["ok"]:
        raise FailedPrecondition(f"the backup's {path.name} is damaged: {said[0]}", "BACKUP_DAMAGED")


def _check_audit(folder: Path) -> None:
    exported = folder / "heads"
    if not (exported / heads.PUBLIC).exists():  # kept elsewhere, or nothing signed yet
        return
    key = heads.public_key(exported / heads.PUBLIC)
    faults = [
        fault for one in chains(folder, exported) for fault in checked(folder, exported, one, key).faults
    ]
    if faults:
        raise FailedPrecondition(f"the backup's audit trail is not whole: {faults[0]}", "BACKUP_DAMAGED")


def where(settings: Settings, environ: Mapping[str, str]) -> dict[str, Path]:
    """The places of what is backed up, by name."""
    home = places.home(settings, environ)
    found = {name: home / name for name in PARTS}
    found[INDEX] = places.index(settings, environ)
    return found


def _files(parts: Mapping[str, Path]) -> "list[tuple[str, Path]]":
    found = []
    for name, place in parts.items():
        beside = [place, place.with_name(place.name + LOG)] if name.endswith(".db") else []
        found += [(f"{one.name}", one) for one in beside if one.is_file()]
        if place.is_dir():
            inside = sorted(one for one in place.rglob("*") if one.is_file() and not one.is_symlink())
            found += [(f"{name}/{one.relative_to(place).as_posix()}", one) for one in inside]
    return [(name, one) for name, one in found if name not in MADE_AGAIN]


def refuse_what_is_elsewhere(settings: Settings) -> None:
    """Raises FailedPrecondition when a part of the state is on a database server."""
    elsewhere = {
        "RADRAG_CATALOGUE_URL": settings.catalogue_url,
        "RADRAG_VERSIONS_URL": settings.versions_url,
        "RADRAG_STORE": "" if settings.store == "edge" else settings.store,
    }
    named = [name for name, value in elsewhere.items() if value]
    if named:
        text = f"with {named[0]} that part is on a server: back it up with the server's own tools"
        raise FailedPrecondition(text, "STATE_ELSEWHERE")


def refuse_while_up(settings: Settings, environ: Mapping[str, str]) -> None:
    """Raises FailedPrecondition when one of the services runs."""
    running = [one.name for one in services.profile(settings, environ).children if one.running()]
    if set(running) - {"triton"}:
        text = f"up: {', '.join(running)}; `radrag down` first, a backup is of one moment"
        raise FailedPrecondition(text, "ALREADY_UP")
