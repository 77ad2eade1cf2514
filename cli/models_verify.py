"""`radrag models verify`: names every file of a model's weights that is missing, truncated or another."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from cli import models_archive
from cli.exits import Exit
from cli.models_manifest import WrongBundle, faults, read
from cli.models_store import Store
from cli.terminal import Terminal
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """One line for each fault; nothing but a sentence for what is right."""
    folder = root(given, environ)
    names = given.what or Store(folder).names()
    if not names:
        screen.note(f"radrag: there are no weights in {folder}")
        return Exit.NOT_FOUND
    found = {name: wrong(place(name, folder)) for name in names}
    for name, lines in found.items():
        for line in lines or ["every file is the manifest's"]:
            screen.text(f"{name}: {line}")
    return Exit.FAILURE if any(found.values()) else Exit.OK


def root(given: argparse.Namespace, environ: Mapping[str, str]) -> Path:
    """The folder of weights: as given, or of the settings."""
    return Path(given.folder or Settings.from_environ(environ).models)


def place(name: str, folder: Path) -> Path:
    """A model in the folder of weights, or whatever else the name leads to."""
    return folder / name if (folder / name).is_dir() else Path(name)


def wrong(where: Path) -> list[str]:
    """A line for every fault of a folder or a bundle; none when it is right."""
    try:
        if where.is_dir():
            return faults(where, read(where))
        if where.is_file():
            return models_archive.unpacked(where, lambda _: Path(os.devnull).open("wb"))[1]
    except WrongBundle as error:
        return [str(error)]
    return [f"{where} is absent"]
