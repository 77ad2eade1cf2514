"""The disk of the index, or of the catalogue, is full or read-only.

What was kept is still read, what cannot be kept is refused as UNAVAILABLE, and once there is room it goes on
without a restart; nothing is half there.
"""

import asyncio
import signal
from collections.abc import Awaitable
from pathlib import Path

import pytest
from grpc import aio

from radrag.errors import from_rpc
from radrag.knowledge.v1 import knowledge_pb2
from radrag.retrieval.v1 import retrieval_pb2 as wire
from tests.faults.disk import disk, possible
from tests.ingest import test_service_process as ingest
from tests.ingest.knowledge import submission
from tests.retrieval.making import EMBEDDER, Made, embedder_message, made, vector
from tests.retrieval.process import Process, running

pytestmark = pytest.mark.skipif(not possible(), reason="this machine allows no mount namespace (unshare)")
QUESTION = "renal cysts"


async def found(process: Process) -> list[str]:
    """The documents that a search finds; a large one is found by many of its parents."""
    reply = await process.stub.Search(
        wire.SearchRequest(
            question=QUESTION, vector=vector(QUESTION), embedder=embedder_message(EMBEDDER), as_of_day=100
        ),
        timeout=30,
    )
    return sorted({one.document.document_id for one in reply.parents})


async def ended(call: Awaitable[object]) -> str:
    """The status, and its reason."""
    try:
        await call
    except aio.AioRpcError as error:
        return f"{error.code().name} {from_rpc(error).reason}"
    return "OK"


async def publish(process: Process, one: Made) -> str:
    return await ended(process.stub.IndexDocument(one.messages(), timeout=60))


def large(name: str) -> Made:
    """A document of some megabytes: it needs room that no log has ahead."""
    return made(name, *(f"Renal cysts {number}. {'word ' * 4_000}" for number in range(60)))


async def test_an_index_on_a_full_disk_is_read_refuses_and_goes_on(tmp_path: Path) -> None:
    with disk(tmp_path / "index") as own:
        async with running(own.folder, own.inside) as process:
            assert await publish(process, made("first", "Renal cysts.")) == "OK"
            own.fill()
            refusals = [await publish(process, large(f"lost{number}")) for number in range(3)]
            assert all(one.startswith("UNAVAILABLE ") for one in refusals), refusals
            assert await found(process) == ["first"]
            own.free()
            assert await publish(process, large("second")) == "OK"
            assert await found(process) == ["first", "second"]
            await process.end(signal.SIGKILL)
        async with running(own.folder, own.inside) as process:
            assert await found(process) == ["first", "second"]


async def test_an_index_killed_on_a_full_disk_comes_back_with_what_was_committed(tmp_path: Path) -> None:
    with disk(tmp_path / "index") as own:
        async with running(own.folder, own.inside) as process:
            assert await publish(process, made("first", "Renal cysts.")) == "OK"
            own.fill()
            assert (await publish(process, large("lost"))).startswith("UNAVAILABLE ")
            await process.end(signal.SIGKILL)
        own.free()
        async with running(own.folder, own.inside) as process:
            assert await found(process) == ["first"]
            assert await publish(process, large("lost")) == "OK"
            assert await found(process) == ["first", "lost"]


async def submit(service: ingest.Service, name: str) -> str:
    messages = submission(f"{name}.md", "# Lens\n\n" + "Dose. " * 2_000, {"document_id": name})
    return await ended(service.stub.SubmitDocument(messages, timeout=30))


async def listed(service: ingest.Service) -> list[str]:
    reply = await service.stub.ListDocuments(knowledge_pb2.ListDocumentsRequest(), timeout=30)
    return sorted(one.metadata.document_id for one in reply.documents)


async def test_a_catalogue_on_a_full_disk_is_read_refuses_and_goes_on(tmp_path: Path) -> None:
    with disk(tmp_path / "home") as own:
        async with ingest.running(own.folder, own.inside) as service:
            assert await submit(service, "first") == "OK"
            own.fill()
            assert await submit(service, "lost") == "UNAVAILABLE DISK_FULL"
            assert await listed(service) == ["first"]
            own.free()
            assert await submit(service, "second") == "OK"
            assert await listed(service) == ["first", "second"]
            await service.end(signal.SIGKILL)
        async with ingest.running(own.folder, own.inside) as service:
            assert await listed(service) == ["first", "second"]


async def test_a_read_only_disk_is_told_at_the_start_and_is_no_loss(tmp_path: Path) -> None:
    with disk(tmp_path / "index") as own:
        async with running(own.folder, own.inside) as process:
            assert await publish(process, made("first", "Renal cysts.")) == "OK"
            assert await process.end() == 0
        own.read_only()
        process = Process(own.folder, own.inside)
        assert await asyncio.to_thread(process.process.wait, 60) != 0
        await process.end()
        own.writable()
        async with running(own.folder, own.inside) as process:
            assert await found(process) == ["first"]
