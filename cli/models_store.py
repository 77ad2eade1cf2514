"""Where weights live: folders named by their manifest's hash, and links with the models' names to them.

    /models/frida -> .bundles/3f1c…      what a model server opens
    /models/.bundles/3f1c…/              manifest.json and the files it names; never changed
    /models/.fetching/9a0e…/             what a fetch has so far; taken up by the next one

A fetch makes everything beside, and the link is replaced in one step: a model server sees the old or the new.
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cli.models_manifest import FILE, Manifest, faults, read, text

BUNDLES, FETCHING, LOCK, DONE = ".bundles", ".fetching", ".lock", ".done"


class CannotFetch(RuntimeError):
    """The weights could not be had; the message names the file or the place, and what to do."""


@dataclass(frozen=True)
class Store:
    """A folder of weights."""

    folder: Path

    def names(self) -> list[str]:
        """The models that have weights here."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(one.name for one in found if one.is_dir() and not one.name.startswith("."))

    @asynccontextmanager
    async def fetching(self, source: str, waiting: Callable[[], None]) -> AsyncIterator[Path]:
        """The folder in which this source is gathered, by one process at a time."""
        place = self.folder / FETCHING / hashlib.sha256(source.encode()).hexdigest()[:16]
        place.mkdir(parents=True, exist_ok=True)
        with place.with_suffix(LOCK).open("w", encoding="ascii") as lock:
            while not _locked(lock.fileno()):
                waiting()
                await asyncio.sleep(0.2)
            place.mkdir(exist_ok=True)  # who had it before may have finished
            yield place

    def known(self, gathered: Path) -> Path | None:
        """What an earlier fetch from the same source made, if every file of it is still right."""
        done = gathered.with_suffix(DONE)
        place = self.folder / BUNDLES / done.read_text(encoding="ascii") if done.exists() else None
        return place if place and place.is_dir() and not faults(place, read(place)) else None

    def installed(self, gathered: Path, manifest: Manifest) -> Path:
        """Keeps what was gathered, and found right, under its hash. Returns its folder."""
        content = text(manifest)
        (gathered / FILE).write_text(content, encoding="utf-8")
        _flushed(gathered)
        place = self.folder / BUNDLES / hashlib.sha256(content.encode()).hexdigest()
        place.parent.mkdir(exist_ok=True)
        if place.exists():  # the same, or what became of it
            shutil.rmtree(place)
        gathered.rename(place)
        gathered.with_suffix(DONE).write_text(place.name, encoding="ascii")
        return place

    def link(self, model: str, place: Path) -> None:
        """Makes these the model's weights, in one step."""
        target = self.folder / model
        if target.is_dir() and not target.is_symlink():
            raise CannotFetch(f"{target} is a folder somebody made: move it away first")
        link = self.folder / f".{model}.{os.getpid()}"
        link.symlink_to(Path(BUNDLES) / place.name)
        link.replace(target)

    def require_room(self, needed: int) -> None:
        """Raises CannotFetch when the disk has not that many bytes left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise CannotFetch(f"{self.folder} has {megabytes(free)} free, {megabytes(needed)} are needed")


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:,.1f} MB"


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _flushed(folder: Path) -> None:
    """On the disk before anybody can see it."""
    for path in [*folder.rglob("*"), folder]:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
