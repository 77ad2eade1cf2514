"""Starts the bare relays beside a stand, as processes like ours, and watches their CPU with the others'."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from grpc import aio

from benchmarks.relays import ROLES, Kept
from benchmarks.stand import Stand
from cli import places
from cli.process import Child


@asynccontextmanager
async def relays(stand: Stand, said: Kept) -> AsyncIterator[Mapping[str, str]]:
    """The relays' addresses by role; their pids join the stand's."""
    first = stand.triton.grpc_port + 13
    addresses = {role: f"127.0.0.1:{first + place}" for place, role in enumerate(ROLES)}
    children = {role: Child(f"relay-{role}", stand.home) for role in ROLES}
    for role, address in addresses.items():
        said.place(role, address)
        line = (sys.executable, "-m", "benchmarks.relays", role, str(said.folder), address)
        started = children[role].start(line, stand.environ, places.ROOT)
        stand.pids[role] = started.pid
    try:
        await asyncio.gather(*(_answers(address) for address in addresses.values()))
        yield addresses
    finally:
        await asyncio.gather(*(child.stop(2) for child in children.values()))
        for role in ROLES:
            stand.pids.pop(role, None)


async def _answers(address: str) -> None:
    async with aio.insecure_channel(address) as channel:
        await asyncio.wait_for(channel.channel_ready(), 20)
