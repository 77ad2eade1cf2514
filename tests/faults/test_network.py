"""The way to the index is cut in every way a network has: the caller learns it within its deadline."""

import asyncio
import signal
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET

import pytest

from gateway import retrieval
from gateway.retrieval import Retrieval
from radrag.errors import DeadlineExceeded, IndexUnavailable, RadragError
from tests.gateway.fakes import question
from tests.retrieval.process import running

SECONDS = 2.0
SPARE = 3.0  # a busy machine's
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def asked(address: str) -> RadragError | None:
    """How a search ended; it never takes longer than it was given."""
    channel = retrieval.channel(address)
    began = time.monotonic()
    try:
        await Retrieval(channel, seconds=SECONDS).search(question(), None)
    except RadragError as error:
        return error
    finally:
        assert time.monotonic() - began < SECONDS + SPARE
        await channel.close(None)
    return None


async def test_a_paused_index_costs_the_deadline_and_answers_when_it_goes_on(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with running(tmp_path) as process:
        channel = retrieval.channel(f"127.0.0.1:{process.port}")
        index = Retrieval(channel, seconds=SECONDS)
        await index.search(question(), None)
        process.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(DeadlineExceeded):  # connected, it is known to be there
                await index.search(question(), None)
        finally:
            process.process.send_signal(signal.SIGCONT)
        began = time.monotonic()
        await index.search(question(), None)
        record_property("recovered", time.monotonic() - began)
        assert await asked(f"127.0.0.1:{process.port}") is None
        assert time.monotonic() - began < SECONDS + SPARE
        await channel.close(None)


async def test_a_name_that_is_gone_is_a_missing_index() -> None:
    assert isinstance(await asked("index.invalid:50052"), IndexUnavailable)


async def test_a_reset_connection_is_a_missing_index() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(24)
        writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    assert isinstance(await to(reset), IndexUnavailable)


async def test_a_silent_peer_costs_the_deadline_and_no_more() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)
        writer.close()

    assert isinstance(await to(silent), IndexUnavailable)


@pytest.mark.parametrize("nonsense", [b"HTTP/1.1 200 OK\r\n\r\n", b"\0" * 500, bytes(range(256)) * 8])
async def test_a_peer_that_speaks_nonsense_is_a_missing_index(nonsense: bytes) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(nonsense)
        await reader.read(-1)
        writer.close()

    assert isinstance(await to(speak), IndexUnavailable)


async def to(serve: Serve) -> RadragError | None:
    async with peer(serve) as address:
        return await asked(address)


@asynccontextmanager
async def peer(serve: Serve) -> AsyncIterator[str]:
    """A plain TCP server; what it still holds open at the end is closed."""
    calls: set[asyncio.Task[None]] = set()

    async def serving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.add(asyncio.create_task(serving(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
