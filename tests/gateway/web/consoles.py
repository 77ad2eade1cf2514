"""A console before a service over a pipeline of one's own, in a thread; its line can be cut."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gateway.pipeline import Pipeline
from radrag.admission.limits import Limits
from tests.gateway.fakes import PIPELINE
from tests.gateway.web.asking import LIMITS, served

T = TypeVar("T")


@dataclass
class Line:
    """A way to the service: `url`, until it is cut. `loop` is where the service runs."""

    loop: asyncio.AbstractEventLoop
    url: str = ""
    _ends: list[asyncio.StreamWriter] = field(default_factory=list)
    _server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> None:
        """Listens, and passes all on."""

        async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            their_reader, their_writer = await asyncio.open_connection(host, port)
            self._ends += [writer, their_writer]
            await asyncio.gather(passed(reader, their_writer), passed(their_reader, writer))

        self._server = await asyncio.start_server(joined, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/console/"

    async def close(self) -> None:
        """Breaks every connection off and takes no more."""
        assert self._server
        self._server.close()
        for one in self._ends:
            one.transport.abort()

    def cut(self) -> None:
        """The same, from the test's thread."""
        self.run(self.close())

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Runs it where the service runs."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)


async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()


@contextmanager
def console(
    pipeline: Pipeline = PIPELINE, callers: Path | None = None, limits: Limits = LIMITS
) -> Iterator[Line]:
    """A running service with its console; its line."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    line, stack = Line(loop), AsyncExitStack()
    try:
        url = line.run(stack.enter_async_context(served(pipeline, callers, limits)))
        host, _, port = url.removeprefix("http://").rpartition(":")
        line.run(line.open(host, int(port)))
        yield line
    finally:
        line.run(line.close())
        line.run(stack.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
