"""Calls that never came to the door, by gRPC's own books: the calls a server began less those seen there.

A call that the event loop has not taken yet may be dropped for want of room, or left by its caller, unseen by
all that counts calls. channelz, which is on by default, has counted it when it began. gRPC's Python names no
public way to it within the process; its own package grpcio-channelz takes this one, too.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from grpc._cython import cygrpc  # type: ignore[attr-defined]  # the stubs lack it

from radrag import telemetry

EVERY_SECONDS = 1.0
REASON = "before_the_door"


@dataclass
class Dropped:
    """Of one server: `arrived` says how many came to its door, `room` how many may wait there at most."""

    server: int
    arrived: Callable[[], int]
    room: int
    counted: int = 0

    @classmethod
    def newest(cls, arrived: Callable[[], int], room: int) -> "Dropped":
        """Of the server that was made last."""
        telemetry.REJECTED.labels(REASON)  # from 0, so that a rate sees the first
        servers = json.loads(cygrpc.channelz_get_servers(0))["server"]
        return cls(max(int(one["ref"]["serverId"]) for one in servers), arrived, room)

    async def watch(self) -> None:
        """Looks now and then until it is cancelled."""
        before = self.look()
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            now = self.look()
            # Who waits is missing, too, but never longer than while others come.
            self.count(now[0] - now[1] - (self.room if now != before else 0))
            before = now

    def look(self) -> tuple[int, int]:
        """How many calls began, and how many of them arrived."""
        told = json.loads(cygrpc.channelz_get_server(self.server))["server"]["data"]
        return int(told["callsStarted"]), self.arrived()

    def count(self, dropped: int) -> None:
        """Brings the metric to so many in all."""
        new = max(0, dropped - self.counted)
        telemetry.REJECTED.labels(REASON).inc(new)
        self.counted += new
