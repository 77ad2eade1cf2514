"""`radrag bundle create | verify | install`: RadRAG for a closed network, as one folder."""

import argparse
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from cli import bundle_create, bundle_install, models_verify
from cli.exits import Exit
from cli.models_store import megabytes
from cli.terminal import Terminal
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 1 names what is missing or wrong."""
    try:
        if given.action == "create":
            return _create(given, screen, environ)
        if given.action == "verify":
            return _verify(given.bundle, screen)
        bundle_install.install(given.bundle.absolute(), given.prefix.absolute(), environ)
    except (bundle_install.WrongBundle, bundle_create.NotCollected) as error:
        screen.note(f"radrag: {error}")
        return Exit.FAILURE
    except OSError as error:
        screen.note(f"radrag: {error.filename}: {error.strerror}")
        return Exit.FAILURE
    screen.text(f"installed in {given.prefix}: try .venv/bin/radrag demo there")
    return Exit.OK


def _create(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """In a folder beside the target, which it becomes when it is whole."""
    target: Path = given.folder
    if target.exists():
        raise bundle_create.NotCollected(f"{target} exists already")
    settings = Settings.from_environ(environ)
    models = [models_verify.place(one, settings.models) for one in given.model]
    if faults := [line for model in models for line in models_verify.wrong(model)]:
        raise bundle_create.NotCollected("\n".join(faults))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as making:
        folder = Path(making) / "bundle"
        folder.mkdir()
        size = bundle_create.create(
            folder, version("radrag"), models, lambda what: screen.note(f"collecting: {what}")
        )
        folder.rename(target)
    screen.text(f"{target} ({megabytes(size)}), {_mark(target)}")
    return Exit.OK


def _verify(bundle: Path, screen: Terminal) -> int:
    lines = bundle_install.wrong(bundle)
    for line in lines:
        screen.note(line)
    if not lines:
        screen.text(f"{bundle}: every file as its manifest says, {_mark(bundle)}")
    return Exit.FAILURE if lines else Exit.OK


def _mark(bundle: Path) -> str:
    """The manifest's own sha256: the same on both sides when nobody made another bundle on the way."""
    return f"manifest sha256 {bundle_install.digest(bundle / bundle_install.MANIFEST)}"
