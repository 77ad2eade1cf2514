"""Who is connected to a port of this machine: for tests of what must not be dialled."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


async def strangers(addresses: Iterable[str], known: int) -> set[str]:
    """Connections to these addresses that anybody but process `known` opens, until cancelled."""
    ports, found = {int(one.rpartition(":")[2]) for one in addresses}, set[str]()
    try:
        while True:
            found |= await asyncio.to_thread(opened_by_others, ports, known)
            await asyncio.sleep(0.1)
    except asyncio.CancelledError:
        return found


def opened_by_others(ports: set[int], known: int) -> set[str]:
    there = connected(ports)
    ours = {_socket(one) for one in Path(f"/proc/{known}/fd").iterdir()}
    return (there - ours) & connected(ports)  # one that closed meanwhile was the known process's, too


def _socket(descriptor: Path) -> str:
    with suppress(OSError):
        return str(descriptor.readlink()).removeprefix("socket:[").rstrip("]")
    return ""


def connected(ports: set[int]) -> set[str]:
    """Inodes of the callers' ends of established connections to these ports."""
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {row[9] for row in rows if row[3] == "01" and int(row[2].rpartition(":")[2], 16) in ports}
