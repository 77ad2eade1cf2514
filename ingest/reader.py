"""Keeps the child processes that run Docling: one file at a time, a deadline, a new one after so many files.

Native parsers crash, hang and leak. Here a crash or a hang costs one file, and a leak ends with its process.
"""

import asyncio
import json
import os
import sys
from dataclasses import dataclass

from ingest.canonical import canonical
from ingest.document import PageRange, Parsed
from ingest.load import Source
from ingest.markdown import title_of
from ingest.refusal import refused

LENGTH = 8
THREADS = {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}  # processes are the unit of parallel work here


class Reader:
    """`processes` children at most. Use as `async with`, so that none outlives its owner."""

    def __init__(self, processes: int = 1, files_each: int = 50, seconds: float = 300.0) -> None:
        self._free = asyncio.Semaphore(processes)
        self._idle: list[Child] = []
        self._files_each = files_each
        self._seconds = seconds

    async def __aenter__(self) -> "Reader":
        return self

    async def __aexit__(self, *failure: object) -> None:
        while self._idle:
            await self._idle.pop().end()

    async def parse(self, source: Source) -> Parsed:
        """Reads a PDF or DOCX. Raises InvalidArgument when it cannot be read, or not in time."""
        async with self._free:
            child = self._idle.pop() if self._idle else await started()
            try:
                reply = await asyncio.wait_for(child.ask(source), self._seconds)
            except TimeoutError as error:
                await child.end()
                limit = f"it took longer than {self._seconds:g} s to read, which is the limit"
                raise refused(source.name, "time", limit) from error
            except (OSError, asyncio.IncompleteReadError) as error:
                code = await child.end()
                raise refused(source.name, "content", f"it crashed its reader (exit code {code})") from error
            except BaseException:  # cancelled: the child would go on with the file
                await child.end()
                raise
            await self._put_back(child)
        return parsed_from(source.name, reply)

    async def _put_back(self, child: "Child") -> None:
        if child.files < self._files_each:
            self._idle.append(child)
        else:
            await child.end()


@dataclass
class Child:
    """A running child and how many files it has read."""

    process: asyncio.subprocess.Process
    files: int = 0

    async def ask(self, source: Source) -> dict[str, object]:
        """Sends a file, waits for its blocks. Raises IncompleteReadError when the child dies of it."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        self.files += 1
        request = {"name": source.name, "kind": source.kind, "size": len(source.data)}
        stdin.write(framed(json.dumps(request).encode()) + source.data)
        await stdin.drain()
        size = int.from_bytes(await stdout.readexactly(LENGTH), "big")
        reply: dict[str, object] = json.loads(await stdout.readexactly(size))
        return reply

    async def end(self) -> int:
        """Kills it; returns its exit code."""
        if self.process.returncode is None:
            self.process.kill()
        return await self.process.wait()


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH, "big") + body


async def started() -> Child:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "ingest.docling"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # what parsers print may quote documents
        env=os.environ | THREADS | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    return Child(process)


def parsed_from(name: str, reply: dict[str, object]) -> Parsed:
    """The reply's blocks joined into one text, with the range each page has in it."""
    if "reason" in reply:
        raise refused(name, str(reply["field"]), str(reply["reason"]))
    pieces = reply["pieces"]
    assert isinstance(pieces, list)
    text, pages = "", []
    for piece in pieces:
        text += piece["joint"] if text else ""
        start = len(text)
        text += piece["text"]
        pages.append(PageRange(start, len(text), int(piece["page"])))
    markdown = canonical(text)
    return Parsed(markdown, title_of(markdown), str(reply["engine"]), merged(pages, len(markdown)))


def merged(pieces: list[PageRange], end: int) -> tuple[PageRange, ...]:
    """One range for each run of blocks on one page; together they leave no gap. None without pages."""
    ranges: list[PageRange] = []
    for piece in pieces:
        if ranges and ranges[-1].page == piece.page:
            ranges[-1] = PageRange(ranges[-1].start, piece.end, piece.page)
        elif piece.page:
            ranges.append(piece)
    ends = [*(part.start for part in ranges[1:]), end][: len(ranges)]
    return tuple(PageRange(part.start, stop, part.page) for part, stop in zip(ranges, ends, strict=True))
