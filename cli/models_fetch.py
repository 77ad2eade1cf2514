"""`radrag models fetch`: weights from a hub, a mirror, a bundle or a folder, whole or not at all."""

import argparse
import errno
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

import httpx

from cli import models_archive, models_verify
from cli.exits import Exit
from cli.models_download import Wanted, client, fetched
from cli.models_hub import KNOWN, Known, hub_files, mirror_files
from cli.models_manifest import File, Manifest, WrongBundle, checked, read
from cli.models_store import CannotFetch, Store, megabytes
from cli.terminal import Terminal


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Fetches, checks and installs; says where the weights are."""
    store = Store(models_verify.root(given, environ))
    try:
        name = _name(given.model)
        place = await (_from_disk if _on_disk(given) else _from_network)(given, store, screen)
        store.link(name, place)
    except (CannotFetch, WrongBundle) as failure:
        screen.note(f"radrag: {failure}")
        return Exit.FAILURE
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        advice = ": make room and run this again, it goes on from there" if full else ""
        screen.note(f"radrag: {error.filename or store.folder}: {error.strerror}{advice}")
        return Exit.FAILURE
    screen.text(f"{store.folder / name} -> {place}")
    return Exit.OK


def _on_disk(given: argparse.Namespace) -> bool:
    return bool(given.source) and Path(given.source).exists()


async def _from_network(given: argparse.Namespace, store: Store, screen: Terminal) -> Path:
    async with client(_token(given.token_file)) as http:
        source, files = await _files(given, http)
        key = f"{source} {sorted((one.name, one.sha256 or one.git_sha1) for one in files)}"
        async with store.fetching(key, _busy(screen)) as gathered:
            if known := store.known(gathered):
                return known
            store.require_room(sum(one.bytes for one in files) - _have(gathered))
            found = {one.name: await _one(http, one, gathered, screen) for one in files}
            return store.installed(gathered, Manifest(given.model, source, found))


def _token(file: Path | None) -> str:
    """What is sent as a header, and must be able to be."""
    token = file.read_text(encoding="ascii", errors="replace").strip() if file else ""
    if token and not re.fullmatch("[!-~]+", token):
        raise CannotFetch(f"{file} must hold one line of ASCII, without blanks")
    return token


async def _files(given: argparse.Namespace, http: httpx.AsyncClient) -> tuple[str, list[Wanted]]:
    if given.source.startswith(("http://", "https://")):
        return await mirror_files(http, given.source)
    if given.source:
        raise CannotFetch(f"{given.source} is neither a bundle, a folder nor a URL")
    known = KNOWN.get(given.model, Known("", ()))
    repo = given.repo or known.repo
    if not repo:
        raise CannotFetch(f"{given.model} is published nowhere that is known here: say --repo, or a source")
    commit, files = await hub_files(http, given.hub, repo, given.revision, given.include or known.include)
    return f"{repo}@{commit}", files


async def _one(http: httpx.AsyncClient, wanted: Wanted, folder: Path, screen: Terminal) -> File:
    sha256 = await fetched(http, wanted, folder, screen.progress)
    screen.note(f"{wanted.name} ({megabytes(wanted.bytes)})")
    return File(wanted.bytes, sha256)


async def _from_disk(given: argparse.Namespace, store: Store, screen: Terminal) -> Path:
    source = Path(given.source)
    async with store.fetching(str(Path.cwd() / source), _busy(screen)) as gathered:
        shutil.rmtree(gathered)
        gathered.mkdir()
        manifest, wrong = _copied(source, gathered, store)
        if wrong:
            shutil.rmtree(gathered)
            raise CannotFetch("\n".join([f"{source} is not what its manifest says:", *wrong]))
        return store.installed(gathered, manifest)


def _copied(source: Path, gathered: Path, store: Store) -> tuple[Manifest, list[str]]:
    """Copies a folder's or a bundle's files, those of the manifest and no others."""
    if source.is_dir():
        manifest = read(source)
        store.require_room(sum(file.bytes for file in manifest.files.values()))
        wrong = models_verify.wrong(source)
        for name in () if wrong else manifest.files:
            (gathered / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, gathered / name)
        return manifest, wrong
    store.require_room(source.stat().st_size)

    def opened(name: str) -> BinaryIO:
        place = gathered / checked(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place.open("wb")

    return models_archive.unpacked(source, opened)


def _busy(screen: Terminal) -> Callable[[], None]:
    return lambda: screen.waiting("another fetch of the same is under way: waiting for it")


def _have(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _name(model: str) -> str:
    """A model's name is a folder's."""
    if not model or "/" in model or model.startswith("."):
        raise CannotFetch(f"{model} is no name of a model")
    return model
