"""Starts and stops a server: its port with the door before it, its health, its metrics."""

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from radrag import telemetry
from radrag.access import certificates
from radrag.access.channels import Files
from radrag.access.identity import Anyone
from radrag.access.opening import Access
from radrag.account import Trail
from radrag.admission.limits import Limits
from radrag.call import on_loopback
from radrag.serving.door import Door
from radrag.serving.dropped import Dropped
from radrag.settings import SettingError

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
MESSAGE_BYTES = 16 * 1024 * 1024
LEAST_ROOM = 64  # calls before the door; below, a short burst would be dropped
ON_THEIR_WAY = 4  # calls that the event loop has been given and not begun: one was seen

# Two processes must not share a port unnoticed; a dead peer is found within a minute and a half. Callers are
# asked to connect anew now and then, so that those who balance find a new replica; running calls may end.
OPTIONS: list[tuple[str, int]] = [
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 30_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.max_connection_age_ms", 30_000),
    ("grpc.max_connection_age_grace_ms", 3_600_000),
]


@dataclass
class Server:
    """A running server: where it listens, its health, and how to stop it."""

    grpc: aio.Server
    port: int
    health: HealthServicer
    health_grpc: aio.Server
    health_port: int
    stop_metrics: Callable[[], None] = field(default=lambda: None)
    watching: "tuple[asyncio.Task[None], ...]" = ()

    async def ready(self, *services: str, serving: bool = True) -> None:
        """Says whether the named services, and the server as a whole, take calls."""
        for service in ("", *services):
            await self.health.set(service, SERVING if serving else NOT_SERVING)

    async def stop(self, seconds: float = 0.0) -> None:
        """Refuses new calls, lets running ones end for `seconds`, then cancels them."""
        await self.health.enter_graceful_shutdown()
        await self.grpc.stop(seconds)
        await self.health_grpc.stop(0)
        self.stop_metrics()
        for task in self.watching:
            task.cancel()
        await asyncio.gather(*self.watching, return_exceptions=True)


async def start(
    add: Callable[[aio.Server], None],
    address: str,
    *,
    names: tuple[str, ...] = (),
    limits: Limits = Limits(),  # noqa: B008  a frozen value
    offset: bool = True,
    metrics_host: str = "",
    trail: Trail = Trail(),  # noqa: B008  a frozen value
    access: Access = Access(),  # noqa: B008  as above
) -> Server:
    """Starts a server with the services that `add` registers.

    `address` is host:port; port 0 picks free ports. With `offset`, health listens 100 and metrics 200 above.
    `names`, when given, are the services offered by reflection. Calls are written to `trail`; `limits` say
    how many at once; `access` says who may call, everybody only on a loopback address. Health tells nothing
    but whether it serves, and takes plain calls of anybody. Not ready until told so.
    """
    host, _, port = address.rpartition(":")
    if isinstance(access.identity, Anyone) and not on_loopback(address):
        raise SettingError(f"{address} is reached from outside: it must know its callers")
    door = Door(limits, trail, access.identity)
    room = max(LEAST_ROOM, limits.in_flight + limits.waiting)
    server = aio.server(interceptors=[door], options=[*OPTIONS, *_before_the_door(room)])
    dropped = Dropped.newest(lambda: door.arrived, _most(room) + ON_THEIR_WAY)
    add(server)
    if names:
        reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    bound = _bind(server, host, int(port), access.server)
    health, health_server = HealthServicer(), aio.server(options=OPTIONS)
    health_pb2_grpc.add_HealthServicer_to_server(health, health_server)
    health_bound = _bind(health_server, host, bound + 100 if offset and int(port) else 0)
    await health.set("", NOT_SERVING)
    await server.start()
    await health_server.start()
    stop = telemetry.serve_metrics(metrics_host, bound + 200) if metrics_host else lambda: None
    watching = tuple(map(asyncio.create_task, (telemetry.watch_event_loop(), dropped.watch())))
    return Server(server, bound, health, health_server, health_bound, stop, watching)


def _before_the_door(room: int) -> list[tuple[str, int]]:
    """How many calls gRPC keeps that the event loop has not taken yet.

    A busy loop takes one in two of its turns, fewer than a flood brings: without a bound all of it would wait
    there, unseen by admission. What is above is dropped at once, counted by `Dropped`, and its caller sees
    CANCELLED.
    """
    return [
        ("grpc.server.max_pending_requests", room),
        ("grpc.server.max_pending_requests_hard_limit", _most(room)),
    ]


def _most(room: int) -> int:
    # Between the two gRPC drops the more, the fuller it is.
    return room + room // 8


def _bind(server: aio.Server, host: str, port: int, tls: Files | None = None) -> int:
    try:
        if tls is None:
            return server.add_insecure_port(f"{host}:{port}")
        return server.add_secure_port(f"{host}:{port}", certificates.server_credentials(tls))
    except RuntimeError as error:
        raise OSError(f"port {port} on {host} is taken or may not be used") from error


async def until_stopped(server: Server, drain_seconds: float) -> None:
    """Waits for SIGTERM or SIGINT, then stops gracefully."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    await server.stop(drain_seconds)
