"""A real HTTP server of raw bytes in the place of an OpenAI-compatible one; what it sends is a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.openai_generator import OpenAIGenerator, Target

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


DONE = b"data: [DONE]\n\n"
Script: TypeAlias = "Callable[[Stand, asyncio.StreamWriter], Awaitable[None]]"


def event(text: str = "", reason: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": {"content": text} | more, "finish_reason": reason}
    return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"


def chunk(part: bytes) -> bytes:
    """As HTTP frames a piece of a body of unknown length; an empty one ends it."""
    return f"{len(part):x}\r\n".encode() + part + b"\r\n"


@dataclass
class Stand:
    """A server that sends what `script` writes, and remembers what it was asked."""

    script: Script
    listed: bytes = b'{"data": [{"id": "qwen"}]}'
    asked: list[dict[str, object]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                if head.startswith("GET"):
                    length = len(self.listed)
                    writer.write(
                        f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode() + self.listed
                    )
                    continue
                length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
                self.asked.append(json.loads(await reader.readexactly(length)))
                await self.script(self, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()


@asynccontextmanager
async def standing(script: Script, **body: object) -> AsyncIterator[tuple[Stand, OpenAIGenerator]]:
    stand, running = Stand(script), set[asyncio.Task[None]]()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(task := asyncio.ensure_future(stand.serve(reader, writer)))
        await asyncio.gather(task, return_exceptions=True)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    stand.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    generator = OpenAIGenerator(Target(stand.url, "qwen"), body, 5)
    try:
        yield stand, generator
    finally:
        await generator.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        server.close()
        await server.wait_closed()
