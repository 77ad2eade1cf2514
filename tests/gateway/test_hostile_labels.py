"""No caller can make time series: what comes with a call is in no label of a metric."""

import random
import string
from contextlib import suppress

import grpc
from grpc import aio
from prometheus_client import REGISTRY

from radrag import call, serving
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from tests.gateway.channel import QUESTION, service
from tests.gateway.fakes import PIPELINE

CHANCE = random.Random(20261201)
MARK = "zz"
PACKAGE = "radrag.assistant.v1.AssistantService"


def word() -> str:
    return MARK + "".join(CHANCE.choices(string.ascii_lowercase, k=12))


def series() -> set[str]:
    return {
        f"{sample.name}{sorted(sample.labels.items())}"
        for family in REGISTRY.collect()
        if family.name.startswith("radrag_")
        for sample in family.samples
    }


async def hostile(channel: aio.Channel) -> None:
    """One of everything that a caller can choose, each a word that was never seen before."""
    stub = AssistantServiceStub(channel)
    among = wire.Filter(topics=[word()], languages=[word()], document_ids=[word()])
    metadata = (
        (call.REQUEST_ID, word()), (call.SUBJECT, word()), (call.ROLES, word()), (call.TOPICS, word()),
        ("traceparent", word()), ("user-agent", word()), (word(), word()),
    )  # fmt: skip
    with suppress(grpc.RpcError):
        await stub.Search(wire.SearchRequest(question=QUESTION, filter=among))
    with suppress(grpc.RpcError):
        await stub.Search(wire.SearchRequest(question=QUESTION, filter=wire.Filter(document_ids=[word()])))
    with suppress(grpc.RpcError):
        await stub.Generate(wire.GenerateRequest(question=f"{QUESTION} {word()}"), metadata=metadata)
    for method in (f"/{PACKAGE}/{word()}", f"/{word()}.v1.{word()}/Search", f"/{PACKAGE}/Search/{word()}"):
        with suppress(grpc.RpcError):
            await channel.unary_unary(method, bytes, bytes)(word().encode(), metadata=metadata)
    with suppress(grpc.RpcError):
        await channel.unary_unary(f"/{PACKAGE}/Search", bytes, bytes)(word().encode() * 20)


async def test_hostile_callers_make_no_series() -> None:
    server = await serving.start(service(PIPELINE).add_to, "127.0.0.1:0")
    try:
        async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            await hostile(channel)
            before = series()
            for _ in range(50):
                await hostile(channel)
    finally:
        await server.stop()
    assert any("AssistantService/Search" in one for one in before)
    assert series() - before == set()
    assert not [one for one in series() if MARK in one]
