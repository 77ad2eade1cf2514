"""The real process: `python -m retrieval` on a folder, and what it left there."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import qdrant_edge
from grpc import aio

from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1 import retrieval_pb2_grpc
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
CLOCK = os.sysconf("SC_CLK_TCK")


class Process:
    """A running retrieval service and a stub of it; `inside` is a command that runs it elsewhere."""

    def __init__(self, path: Path, inside: Sequence[str] = (), **settings: str) -> None:
        self.port = free_port()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RADRAG_")},
            "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{self.port}",
            "RADRAG_INDEX_PATH": str(path),
            "RADRAG_INSECURE_DEV": "true",
            **settings,
        }
        self.log = (path / "log").open("a")
        self.process = subprocess.Popen(
            [*inside, sys.executable, "-m", "retrieval"],
            cwd=ROOT, env=environment, stdout=self.log, stderr=self.log,
        )  # fmt: skip
        self.channel = aio.insecure_channel(f"127.0.0.1:{self.port}")
        self.stub = retrieval_pb2_grpc.RetrievalServiceStub(self.channel)

    async def ready(self) -> None:
        """Returns when it answers."""
        await self.stub.Describe(wire.DescribeRequest(), wait_for_ready=True, timeout=120)
        assert self.process.poll() is None, "it ended: somebody else answers at its port"

    def own_seconds(self) -> float:
        """Processor time it has used, which a busy machine does not change."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends the signal and waits; the exit code."""
        self.process.send_signal(number)
        await self.channel.close(None)
        code = await asyncio.to_thread(self.process.wait, 120)
        self.log.close()
        return code


@asynccontextmanager
async def running(path: Path, inside: Sequence[str] = (), **settings: str) -> AsyncIterator[Process]:
    """A process that answers, ended at the end of the block if not before."""
    process = Process(path, inside, **settings)
    try:
        await process.ready()
        yield process
    finally:
        if process.process.poll() is None:
            await process.end()


def points(path: Path) -> dict[str, tuple[object, object]]:
    """Every point of every collection: payload and vectors, read with the engine itself."""
    found: dict[str, tuple[object, object]] = {}
    for config in sorted((path / "edge").glob("*/*/edge_config.json")):
        shard = qdrant_edge.EdgeShard.load(str(config.parent))
        records, _ = shard.scroll(
            qdrant_edge.ScrollRequest(limit=100_000, with_payload=True, with_vector=True)
        )
        for record in records:
            key = f"{config.parent.parent.name}/{config.parent.name}/{record.id}"
            found[key] = (record.payload, plain(record.vector))
        shard.close()
    return found


def plain(vector: object) -> object:
    if isinstance(vector, dict):
        return {name: plain(one) for name, one in vector.items()}
    if isinstance(vector, qdrant_edge.SparseVector):
        return dict(zip(vector.indices, vector.values, strict=True))
    return vector


def rows(path: Path) -> list[tuple[object, ...]]:
    """The version table without revisions, and the chores."""
    columns = (
        "generation, edition, document_id, version, topic, live, valid_from, valid_to, document, frequencies"
    )
    with sqlite3.connect(path / "versions.sqlite") as database:
        kept = database.execute(f"SELECT {columns} FROM versions ORDER BY edition").fetchall()
        kept += database.execute("SELECT * FROM chores").fetchall()
    database.close()
    return kept
