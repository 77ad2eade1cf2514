"""HTTP beside gRPC: the same process calls its own service over a private socket, through the same door.

So identity, limits, deadlines, metrics, traces and audit are those of gRPC: there is no second way in.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from grpc import aio

from gateway.service import NAME
from radrag import serving
from radrag.access import certificates, channels, opening
from radrag.access.channels import Files
from radrag.access.opening import Access
from radrag.settings import SettingError

if TYPE_CHECKING:
    import uvicorn

KNOWLEDGE = "radrag.knowledge.v1.KnowledgeService"
OPTIONS = (("grpc.max_receive_message_length", serving.MESSAGE_BYTES),)


class Wanted(opening.Wanted, Protocol):
    """The settings this reads; see radrag.settings for what they mean."""

    @property
    def http_address(self) -> str:
        """Where HTTP is served; empty: nowhere."""

    @property
    def ingest_address(self) -> str:
        """Where ingest listens."""

    @property
    def drain_seconds(self) -> float:
        """How long running calls may take to end."""


@dataclass(frozen=True)
class Socket:
    """Where this process reaches its own gRPC service; the empty path is nowhere."""

    path: str = ""

    def beside(self, add: Callable[[aio.Server], None]) -> Callable[[aio.Server], None]:
        """`add`, and this socket as one more port of the server."""

        def both(server: aio.Server) -> None:
            add(server)
            if self.path:
                server.add_insecure_port(self.path)

        return both


@contextmanager
def socket(wanted: bool) -> Iterator[Socket]:
    """A socket in a folder that only this user may enter."""
    if not wanted:
        yield Socket()
        return
    with tempfile.TemporaryDirectory(prefix="radrag-") as folder:  # made with mode 0700
        yield Socket(f"unix:{Path(folder) / 'gateway.sock'}")


@asynccontextmanager
async def running(settings: Wanted, inside: Socket, doors: Access) -> AsyncIterator[int]:
    """Serves HTTP while the block runs, where the settings name an address. Yields the port, else 0.

    Raises SettingError for an address that may not be served, OSError for one that is taken.
    """
    if not settings.http_address:
        yield 0
        return
    opening.check(settings, settings.http_address)
    async with (
        _services(settings, inside, doors) as services,
        _served(settings, services, doors.server) as port,
    ):
        yield port


@asynccontextmanager
async def _services(settings: Wanted, inside: Socket, doors: Access) -> AsyncIterator[dict[str, aio.Channel]]:
    opened = {NAME: aio.insecure_channel(inside.path, options=OPTIONS)}
    if settings.ingest_address:
        opened[KNOWLEDGE] = channels.channel(settings.ingest_address, doors.channels, OPTIONS)
    try:
        yield opened
    finally:
        await asyncio.gather(*(one.close(None) for one in opened.values()))


@asynccontextmanager
async def _served(
    settings: Wanted, services: dict[str, aio.Channel], tls: Files | None
) -> AsyncIterator[int]:
    server = _server(settings, services, tls)
    serving_ = asyncio.create_task(server.serve())
    try:
        while not server.started:
            if serving_.done():
                raise OSError(f"{settings.http_address} is taken or may not be used")
            await asyncio.sleep(0.02)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await asyncio.gather(serving_, return_exceptions=True)


def _server(settings: Wanted, services: dict[str, aio.Channel], tls: Files | None) -> "uvicorn.Server":
    try:
        import uvicorn  # noqa: PLC0415  an extra: who serves no HTTP needs none of it

        from gateway.web import app, calls, guard  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SettingError(f"RADRAG_HTTP_ADDRESS needs the extra console: {error.name} is missing") from None

    class Server(uvicorn.Server):
        def capture_signals(self) -> "nullcontext[None]":  # type: ignore[override]
            return nullcontext()  # the process stops all its servers together

    host, _, port = settings.http_address.rpartition(":")
    names = guard.loopback_names(()) if settings.insecure_dev else frozenset[str]()
    return Server(
        uvicorn.Config(
            app.app(calls.Services(services, anonymous=settings.insecure_dev), names),
            host.strip("[]"),
            int(port),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ssl_context_factory=(lambda *_: certificates.http_context(tls)) if tls else None,
            timeout_graceful_shutdown=round(settings.drain_seconds) or None,
        )
    )
