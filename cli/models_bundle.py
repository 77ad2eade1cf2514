"""`radrag models bundle`: a model's weights as one file for a closed network."""

import argparse
from collections.abc import Mapping

from cli import models_archive, models_verify
from cli.exits import Exit
from cli.models_store import megabytes
from cli.terminal import Terminal


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Checks the weights, then writes them."""
    folder = models_verify.place(given.model, models_verify.root(given, environ))
    wrong = models_verify.wrong(folder)
    if wrong:
        screen.note("\n".join(f"{given.model}: {line}" for line in wrong))
        return Exit.FAILURE
    try:
        models_archive.written(folder, given.file)
    except OSError as error:
        screen.note(f"radrag: {given.file} cannot be written: {error.strerror}")
        return Exit.FAILURE
    screen.text(f"{given.file} ({megabytes(given.file.stat().st_size)})")
    return Exit.OK
