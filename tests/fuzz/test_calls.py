"""No made-up request crashes, hangs or puzzles a service: each ends in time with a status that says why.

A plain run asks every RPC a few fixed ones; `make fuzz` asks as many as RADRAG_TEST_FUZZ says.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import grpc
from google.protobuf.descriptor import MethodDescriptor
from grpc import aio

from gateway.feedback import Feedback
from radrag import serving
from radrag.assistant.v1 import assistant_pb2
from radrag.knowledge.v1 import knowledge_pb2
from radrag.retrieval.v1 import retrieval_pb2
from tests.fuzz.messages import several
from tests.gateway.channel import service
from tests.gateway.fakes import PIPELINE
from tests.ingest.knowledge import knowledge

TOTAL = int(os.environ.get("RADRAG_TEST_FUZZ", "1000"))
SECONDS = 30.0
OF_THE_CLIENT = "Internal error from Core"
PUZZLING = {grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL, grpc.StatusCode.DATA_LOSS}
HUNG = {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
SERVICES = {
    "AssistantService": assistant_pb2, "KnowledgeService": knowledge_pb2, "RetrievalService": retrieval_pb2,
}  # fmt: skip
METHODS = [one for name, file in SERVICES.items() for one in file.DESCRIPTOR.services_by_name[name].methods]
# They end when a job does, which a made-up one need not have.
ENDLESS = {"WatchJob"}


async def test_every_made_up_request_ends_in_time_with_a_status_that_says_why(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    async with everything(tmp_path) as channels:
        for method in METHODS:
            for number in range(max(1, TOTAL // len(METHODS))):
                dice = random.Random(f"{method.full_name} {number}")
                sent = several(method.input_type, dice, method.client_streaming)
                code = await called(channels[method.containing_service.name], method, sent)
                where = f"{method.full_name}, request {number}"
                assert code not in PUZZLING, f"{where}: {code}"
                assert code not in HUNG or method.name in ENDLESS, f"{where}: {code}"
                seen[code.name] += 1
    assert len(seen) >= 3, seen  # they got past the first check


async def called(channel: aio.Channel, method: MethodDescriptor, sent: Sequence[bytes]) -> grpc.StatusCode:
    name = f"/{method.containing_service.full_name}/{method.name}"

    async def messages() -> AsyncIterator[bytes]:
        for one in sent:
            yield one
        await asyncio.sleep(0)

    running = channel.stream_stream(name, None, None)(messages(), timeout=SECONDS)
    try:
        async for _ in running:
            pass
    except aio.AioRpcError as error:
        if error.details() == OF_THE_CLIENT:  # refused while it was still sending: it did not wait for why
            return grpc.StatusCode.INVALID_ARGUMENT
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


async def record(rating: Feedback) -> str:
    return rating.request_id


@asynccontextmanager
async def everything(folder: Path) -> AsyncIterator[dict[str, aio.Channel]]:
    """Channels to the three services; retrieval and the knowledge base are real, the models are not."""
    async with knowledge(folder) as base:
        await base.submit("known", "# Known\n\nThe lens dose limit is 20 a year.")
        rated = replace(service(PIPELINE), record_feedback=record)
        server = await serving.start(rated.add_to, "127.0.0.1:0")
        try:
            async with (
                aio.insecure_channel(f"127.0.0.1:{server.port}") as assistant,
                aio.insecure_channel(base.address) as curators,
                aio.insecure_channel(base.index_address) as index,
            ):
                yield dict(zip(SERVICES, (assistant, curators, index), strict=True))
        finally:
            await server.stop()
