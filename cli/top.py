"""`radrag top`: rates, stages, queues and errors as they are now, read from the processes' /metrics."""

import argparse
import asyncio
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from cli import ports, services
from cli.exits import Exit
from cli.terminal import Terminal
from cli.top_figures import Figures, Look, Looks, figures, look
from radrag.errors import Unavailable
from radrag.settings import Settings
from radrag.telemetry.reading import samples

STARTED = "process_start_time_seconds"
CLEAR = "\x1b[H\x1b[2J"


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Shows it until interrupted; with --once since the processes started. Status 5 when nothing answers."""
    addresses = pages(Settings.from_environ(environ))
    if given.once:
        found = await _read(addresses)
        begun = {page: look(()) for page in found}
        _show(screen, figures(begun, found, _age(found)), given.json, "since the processes started")
        return Exit.OK
    before, since = await _read(addresses), time.monotonic()
    while True:
        await asyncio.sleep(given.every)
        after, now = await _read(addresses), time.monotonic()
        if screen.people:
            screen.piece(CLEAR)
        _show(screen, figures(before, after, now - since), given.json, f"the last {now - since:.0f} s")
        before, since = after, now


def pages(settings: Settings) -> list[str]:
    """Where the processes and the model servers show their metrics, each once."""
    ours = (settings.gateway_address, settings.retrieval_address, settings.ingest_address)
    models = (settings.embedder_url, settings.reranker_url, settings.generator_url)
    above = [(one, services.METRICS_ABOVE) for one in ours] + [(one, 1) for one in models]
    split = [(*ports.split(one), more) for address, more in above for one in ports.each(address)]
    return list(dict.fromkeys(f"{host}:{port + more}" for host, port, more in split))


async def _read(addresses: Sequence[str]) -> Looks:
    """Every page that answers. Raises Unavailable when none does."""
    found = await asyncio.gather(*(asyncio.to_thread(_page, address) for address in addresses))
    if not any(found):
        raise Unavailable(f"no metrics at {', '.join(addresses)}")
    return {address: page for address, page in zip(addresses, found, strict=True) if page}


def _page(address: str) -> Look:
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=2) as reply:
            return look(samples(reply.read().decode()))
    except OSError:
        return {}


def _age(found: Looks) -> float:
    started = [value for page in found.values() for (name, _), value in page.items() if name == STARTED]
    return max(1.0, time.time() - min(started)) if started else 1.0


def _show(screen: Terminal, found: Figures, as_json: bool, when: str) -> None:
    if as_json:
        screen.json(asdict(found), indent=None)
        return
    screen.text(when)
    for rows in (found.calls, found.stages, found.models, found.trouble):
        if rows:
            screen.text()
            screen.table([key.replace("_", " ") for key in rows[0]], [_cells(row) for row in rows])
    if not found.calls:
        screen.text("no calls")


def _cells(row: Mapping[str, object]) -> list[str]:
    return [_cell(key, value) for key, value in row.items()]


def _cell(key: str, value: object) -> str:
    if value is None:
        return "-"
    if key in {"share", "failed", "not_ok"} and isinstance(value, float):
        return f"{value:.0%}"
    if key in {"p50", "p95", "queue_seconds"} and isinstance(value, float):
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
