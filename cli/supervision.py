"""Brings a set of services up and takes it down.

The order of starting does not matter: each service waits for its peers by itself. What the services are is
known to `cli.services` alone.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import ports
from cli.ports import Port
from cli.process import Child
from cli.terminal import Terminal
from radrag.errors import FailedPrecondition, Unavailable

LOG_LINES = 20  # shown of the log of a service that failed


@dataclass(frozen=True)
class Service:
    """A process to run and how to see that it works. `missing` names what it still waits for."""

    child: Child
    command: Sequence[str]
    environ: Mapping[str, str]
    folder: Path
    ports: Sequence[Port]
    missing: Callable[[], Awaitable[Sequence[str]]]


async def up(services: Sequence[Service], screen: Terminal, seconds: float) -> None:
    """Starts those that do not run and returns when all are ready; stops what it started when that fails.

    Raises FailedPrecondition when all run already or a port is taken, Unavailable when one died or was not
    ready after `seconds`; its log's last lines are shown before.
    """
    down_now = not_running(services)
    refuse_taken_ports(down_now)
    if len(down_now) < len(services):
        screen.note(f"was down: {_names(down_now)}; the others run on as they were started")
    try:
        for service in down_now:
            _start(service)
        await _until_ready(services, screen, time.monotonic() + seconds)
    except BaseException:
        await down([service.child for service in down_now])
        raise
    finally:
        screen.progress("")


async def down(children: Sequence[Child], seconds: float = 20.0) -> list[str]:
    """Stops the children that run, all at once. Returns their names."""
    stopped = await asyncio.gather(*(child.stop(seconds) for child in children))
    return [child.name for child, was_running in zip(children, stopped, strict=True) if was_running]


def not_running(services: Sequence[Service]) -> list[Service]:
    """The services that are to be started. Raises FailedPrecondition when all of them run."""
    found = [service for service in services if not service.child.running()]
    if not found:
        raise FailedPrecondition(f"already up: {_names(services)}; `radrag down` stops it", "ALREADY_UP")
    return found


def refuse_taken_ports(services: Sequence[Service]) -> None:
    """Raises FailedPrecondition naming every taken port and who holds it."""
    taken = ports.taken(port for service in services for port in service.ports)
    if taken:
        lines = "; ".join(
            f"port {port.number} ({port.purpose}) is taken by {ports.holder(port.number)}" for port in taken
        )
        raise FailedPrecondition(lines, "PORT_TAKEN")


def _start(service: Service) -> None:
    try:
        service.child.start(service.command, service.environ, service.folder)
    except OSError as error:
        text = f"cannot start {service.child.name}: {error.strerror}: {error.filename}"
        raise FailedPrecondition(text, "CANNOT_START") from error


async def _until_ready(services: Sequence[Service], screen: Terminal, end: float) -> None:
    waiting = list(services)
    while waiting:
        missing = await asyncio.gather(*(service.missing() for service in waiting))
        _refuse_the_dead(waiting, screen)
        waiting = [service for service, names in zip(waiting, missing, strict=True) if names]
        wanted = ", ".join(name for names in missing for name in names)
        if waiting and time.monotonic() > end:
            _show_logs(waiting, screen)
            raise Unavailable(f"not ready in time: {wanted}", "NOT_READY")
        if waiting:
            screen.waiting(f"waiting for {wanted}")
            await asyncio.sleep(0.2)


def _refuse_the_dead(services: Sequence[Service], screen: Terminal) -> None:
    dead = [service for service in services if not service.child.running()]
    if dead:
        _show_logs(dead, screen)
        raise Unavailable(f"ended while starting: {_names(dead)}", "ENDED_WHILE_STARTING")


def _names(services: Sequence[Service]) -> str:
    return ", ".join(service.child.name for service in services)


def _show_logs(services: Sequence[Service], screen: Terminal) -> None:
    for service in services:
        screen.note(f"--- the end of {service.child.log} ---")
        for line in service.child.last_lines(LOG_LINES):
            screen.note(line)
