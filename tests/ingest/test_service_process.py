"""The process `python -m ingest`: it starts without models or index; what it took in survives its death."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

import ingest.__main__
from ingest.__main__ import Connection, plan
from ingest.catalogue.catalogue import Catalogue
from ingest.wiring import Plan
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.knowledge.v1.knowledge_pb2_grpc import KnowledgeServiceStub
from radrag.settings import Settings
from tests.ingest.knowledge import submission
from tests.ports import free_port
from tests.retrieval.process import ROOT


class Service:
    """A running process and a stub of it."""

    def __init__(self, home: Path, inside: Sequence[str] = ()) -> None:
        self.port = free_port()
        environ = {name: value for name, value in os.environ.items() if not name.startswith("RADRAG_")}
        nobody = dict.fromkeys(("RADRAG_EMBEDDER_URL", "RADRAG_RETRIEVAL_ADDRESS"), "127.0.0.1:1")
        own = {
            "RADRAG_HOME": str(home),
            "RADRAG_INGEST_ADDRESS": f"127.0.0.1:{self.port}",
            "RADRAG_INSECURE_DEV": "true",
        }
        self.process = subprocess.Popen(
            [*inside, sys.executable, "-m", "ingest"],
            cwd=ROOT,
            env=environ | nobody | own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.channel = aio.insecure_channel(f"127.0.0.1:{self.port}")
        self.stub = KnowledgeServiceStub(self.channel)

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        await self.channel.close(None)
        return await asyncio.to_thread(self.process.wait, 60)


@asynccontextmanager
async def running(home: Path, inside: Sequence[str] = ()) -> AsyncIterator[Service]:
    service = Service(home, inside)
    try:
        await service.stub.ListDocuments(wire.ListDocumentsRequest(), wait_for_ready=True, timeout=60)
        yield service
    finally:
        if service.process.poll() is None:
            await service.end(signal.SIGKILL)


async def test_a_file_handed_in_and_its_job_survive_a_kill(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        messages = submission("lens.md", "# Lens\n\nDose.", {"document_id": "lens"})
        reply = await first.stub.SubmitDocument(messages)
        assert await first.end(signal.SIGKILL) == -signal.SIGKILL
    (kept,) = (tmp_path / "uploads").iterdir()
    assert kept.read_text() == "# Lens\n\nDose."
    async with running(tmp_path) as second:
        (listed,) = (await second.stub.ListDocuments(wire.ListDocumentsRequest())).documents
        assert (listed.metadata.document_id, listed.state) == ("lens", wire.STATE_DISCOVERED)
        progress = second.stub.WatchJob(wire.WatchJobRequest(job_id=reply.job_id), timeout=60)
        assert not (await progress.read()).done  # it waits for the models
        progress.cancel()
        assert await second.end(signal.SIGTERM) == 0


async def test_it_takes_calls_while_models_and_index_are_missing(tmp_path: Path) -> None:
    async with (
        running(tmp_path) as service,
        aio.insecure_channel(f"127.0.0.1:{service.port + 100}") as channel,
    ):
        reply = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        assert reply.status == health_pb2.HealthCheckResponse.SERVING


async def test_the_tokenizer_is_read_once_and_before_anyone_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read one takes seconds in which no other thread runs: within a job the service would stand still."""
    read, given = [], []

    def reading(path: Path) -> str:
        read.append(path)
        return "counter"

    @asynccontextmanager
    async def connected(wanted: Plan, catalogue: object, counter: object = None) -> AsyncIterator[str]:
        given.append(counter)
        yield "parts"

    monkeypatch.setattr(ingest.__main__, "token_counter", reading)
    monkeypatch.setattr(ingest.__main__, "connected", connected)
    async with AsyncExitStack() as until:
        tokenizer = Path("tokenizer.json")
        connection = Connection(plan(Settings(), Path(), tokenizer), cast("Catalogue", None), until)
        assert read == [tokenizer]
        for _ in range(2):
            await connection.parts()
    assert (read, given) == ([tokenizer], ["counter"])
