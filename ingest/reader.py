"""Keeps the child processes that run Docling: one file at a time, a deadline, a new one after so many files.

Native parsers crash, hang and leak. Here a crash, a hang or a file too large for the memory allowed costs one
file, and a leak ends with its process.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from ingest.document import Parsed
from ingest.load import Source
from ingest.parsed_reply import parsed_from
from ingest.reading import DEFAULT, Reading
from ingest.refusal import refused
from radrag.telemetry import INGEST_READER_BYTES

LENGTH = 8
MEGABYTE = 1_000_000
LOOKED = 0.5  # seconds between two looks at a child's memory
THREADS = {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}  # processes are the unit of parallel work here


@dataclass(frozen=True)
class Care:
    """When a child is replaced or ended. `seconds` may pass between two signs that it goes on with a file."""

    files_each: int = 50
    seconds: float = 300.0
    megabytes: int = 4000


class OutOfMemory(Exception):
    """A child took more memory than it may."""


class Reader:
    """`processes` children at most. Use as `async with`, so that none outlives its owner."""

    def __init__(self, processes: int = 1, care: Care | None = None, reading: Reading = DEFAULT) -> None:
        self._free = asyncio.Semaphore(processes)
        self._idle: list[Child] = []
        self._running: list[Child] = []
        self._care = care or Care()
        self._reading = reading

    async def __aenter__(self) -> "Reader":
        INGEST_READER_BYTES.set_function(self.resident_bytes)
        return self

    def resident_bytes(self) -> float:
        """What its children hold now."""
        return sum(child.megabytes for child in self._running) * MEGABYTE

    async def __aexit__(self, *failure: object) -> None:
        while self._idle:
            await self._idle.pop().end()

    async def parse(self, source: Source) -> Parsed:
        """Reads a PDF or DOCX. Raises InvalidArgument when it cannot be read, or not within the limits."""
        async with self._free:
            child = self._living() or await self._started()
            try:
                reply = await child.ask(source, self._care)
            except BaseException as error:  # cancelled, too: the child would go on with the file
                code = await child.end()
                raise self._refusal(source, error, code) from error
            await self._put_back(child)
        return parsed_from(source.name, reply)

    async def _started(self) -> "Child":
        child = await started(self._reading)
        self._running = [*(one for one in self._running if one.process.returncode is None), child]
        return child

    def _living(self) -> "Child | None":
        """One that waits. What died while it waited, died of no file."""
        while self._idle:
            child = self._idle.pop()
            if child.process.returncode is None:
                return child
        return None

    def _refusal(self, source: Source, error: BaseException, code: int) -> BaseException:
        """What a failure of the child means for the file."""
        care = self._care
        if isinstance(error, TimeoutError):
            reason = f"it took longer than {care.seconds:g} s to read, which is the limit"
            return refused(source.name, "time", reason)
        if isinstance(error, OutOfMemory):
            reason = f"it takes more than {care.megabytes:,} MB of memory to read, which is the limit"
            return refused(source.name, "memory", reason)
        if isinstance(error, OSError | asyncio.IncompleteReadError):
            return refused(source.name, "content", f"it crashed its reader (exit code {code})")
        return error

    async def _put_back(self, child: "Child") -> None:
        full = child.files >= self._care.files_each or child.megabytes > self._care.megabytes / 2
        if full:
            await child.end()
        else:
            self._idle.append(child)


@dataclass
class Child:
    """A running child and how many files it has read."""

    process: asyncio.subprocess.Process
    files: int = 0

    @property
    def megabytes(self) -> float:
        """The memory it holds now."""
        with contextlib.suppress(OSError):  # it has just ended
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
        return 0.0

    async def ask(self, source: Source, care: Care) -> dict[str, object]:
        """Sends a file, waits for its blocks.

        Raises IncompleteReadError when the child dies of it, TimeoutError and OutOfMemory at the limits.
        """
        watch = asyncio.create_task(self._watched(care.megabytes))
        try:
            return await self._answered(source, care.seconds)
        except (asyncio.IncompleteReadError, ConnectionError):
            if watch.done():
                raise OutOfMemory from None
            raise
        finally:
            watch.cancel()

    async def _watched(self, megabytes: int) -> None:
        """Ends once the child held too much, and the child with it."""
        while self.megabytes <= megabytes:  # noqa: ASYNC110  # nobody tells of it
            await asyncio.sleep(LOOKED)
        self._kill()

    async def _answered(self, source: Source, seconds: float) -> dict[str, object]:
        stdin = self.process.stdin
        assert stdin is not None
        self.files += 1
        request = {"name": source.name, "kind": source.kind, "size": len(source.data)}
        stdin.write(framed(json.dumps(request).encode()) + source.data)
        await asyncio.wait_for(stdin.drain(), seconds)
        while True:  # an empty message tells that the work goes on
            if reply := await asyncio.wait_for(self._message(), seconds):
                return reply

    async def _message(self) -> dict[str, object]:
        stdout = self.process.stdout
        assert stdout is not None
        size = int.from_bytes(await stdout.readexactly(LENGTH), "big")
        message: dict[str, object] = json.loads(await stdout.readexactly(size))
        return message

    async def end(self) -> int:
        """Kills it and what it started; returns its exit code."""
        self._kill()
        return await self.process.wait()

    def _kill(self) -> None:
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)  # an engine of its own, as Tesseract, too


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH, "big") + body


async def started(reading: Reading) -> Child:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "ingest.docling", reading.written()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # what parsers print may quote documents
        env=os.environ | THREADS | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        start_new_session=True,
    )
    return Child(process)
