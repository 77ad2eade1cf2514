"""`radrag demo`: services, the sample knowledge base, two answered questions, and everything stopped again.

It has a home of its own, so that it disturbs nothing that runs; where the usual ports are taken it moves up.
"""

import argparse
import hashlib
import importlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from cli import arguments, places, ports, services
from cli.terminal import Terminal
from radrag.errors import FailedPrecondition
from radrag.settings import Settings

HOME = places.ROOT / "var" / "demo"
QUESTIONS = (
    "What is the yearly occupational limit for the eye lens under ICRP since 2011?",
    "До скольких Вт/кг ограничен SAR всего тела, если томограф остаётся в обычном режиме?",
)
ADDRESSES = ("gateway", "retrieval", "ingest")
URLS = ("embedder", "reranker", "generator")
STEP, HIGHEST = 1000, 15_000  # how ports move up, and how far: 50,252 must stay below 65,536


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 0 when both questions were answered; whatever happens, nothing is left running."""
    private = _environ(environ)
    _forget_an_older_index()
    await _command(["up"], screen, private)
    try:
        return await _shown(given.samples, screen, private)
    finally:
        await _command(["down"], screen, private)


def _forget_an_older_index() -> None:
    """The index of the last demo is used again, unless what makes it has changed since."""
    sources = [places.MODEL_REPOSITORY / "e5_small" / "config.pbtxt"]
    sources += sorted(path for room in ("ingest", "retrieval") for path in (places.ROOT / room).rglob("*.py"))
    now = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    mark = HOME / "index-made-by.sha256"
    if not mark.exists() or mark.read_text() != now:
        shutil.rmtree(HOME / "index", ignore_errors=True)
        for catalogue in HOME.glob("catalogue.db*"):
            catalogue.unlink()
        HOME.mkdir(parents=True, exist_ok=True)
        mark.write_text(now)


async def _shown(samples: Path, screen: Terminal, environ: Mapping[str, str]) -> int:
    manifest = str(places.ROOT / samples / "manifest.yaml")
    status = await _command(["ingest", "--manifest", manifest, "--approve"], screen, environ)
    for question in QUESTIONS:
        screen.text()
        screen.text(f"$ radrag ask --stages {question!r}", style="bold cyan")
        status = max(status, await _command(["ask", "--stages", question], screen, environ))
    screen.text()
    return status


async def _command(words: list[str], screen: Terminal, environ: Mapping[str, str]) -> int:
    given = arguments.parsed(words)
    return int(await importlib.import_module(given.module).run(given, screen, environ))


def _environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The demo's own settings: the defaults, its own home, the lowest ports that are free."""
    own = {name: value for name, value in environ.items() if not name.startswith("RADRAG_")}
    own["RADRAG_HOME"] = str(HOME)
    own["RADRAG_INSECURE_DEV"] = "true"  # for this machine only, and gone with the demo
    refuse_a_second_demo(own)
    for shift in range(0, HIGHEST, STEP):
        moved = own | moved_up(shift)
        wanted = services.profile(Settings.from_environ(moved), moved).services
        if not ports.taken(port for service in wanted for port in service.ports):
            return moved
    raise FailedPrecondition("no free ports found for the demo", "PORT_TAKEN")


def refuse_a_second_demo(environ: Mapping[str, str]) -> None:
    """Raises FailedPrecondition when one runs: they would share the index."""
    if any(child.running() for child in services.profile(Settings.from_environ(environ), environ).children):
        raise FailedPrecondition(f"a demo runs already; its state is in {HOME}", "ALREADY_UP")


def moved_up(shift: int) -> dict[str, str]:
    """The address settings with every port `shift` higher."""
    plain = Settings()
    names = [f"{name}_address" for name in ADDRESSES] + [f"{name}_url" for name in URLS]
    moved = {}
    for name in names if shift else ():
        host, port = ports.split(getattr(plain, name))
        moved[f"RADRAG_{name.upper()}"] = f"{host}:{port + shift}"
    return moved
