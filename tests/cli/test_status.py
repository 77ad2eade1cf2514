"""`radrag status`, with only a retrieval service, in this process."""

import json
from collections.abc import AsyncIterator

import pytest

from cli import __main__ as command_line
from cli import arguments
from cli.exits import Exit
from radrag import serving
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.retrieval.v1 import retrieval_pb2_grpc as wire
from tests.cli import screens
from tests.ports import free_port

NOBODY = "127.0.0.1:1"


class Index(wire.RetrievalServiceServicer):
    """Two documents in two topics."""

    async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:  # noqa: N802
        counts = [
            pb.DescribeResponse.TopicCount(topic=topic, documents=1, parents=2, children=3)
            for topic in ("physics", "safety")
        ]
        return pb.DescribeResponse(generation="g1", revision=7, topics=counts, store="edge")


@pytest.fixture
async def environ() -> AsyncIterator[dict[str, str]]:
    """Settings under which only retrieval runs; its health port is the design's 100 above."""
    number = free_port()
    server = await serving.start(
        lambda one: wire.add_RetrievalServiceServicer_to_server(Index(), one), f"127.0.0.1:{number}"
    )
    await server.ready()
    yield {
        "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{number}",
        "RADRAG_GATEWAY_ADDRESS": NOBODY,
        "RADRAG_INGEST_ADDRESS": NOBODY,
        "RADRAG_EMBEDDER_URL": NOBODY,
        "RADRAG_RERANKER_URL": NOBODY,
        "RADRAG_GENERATOR_URL": NOBODY,
        "RADRAG_HOME": "/nonexistent",
    }
    await server.stop()


async def test_status_names_each_service_and_what_the_index_holds(environ: dict[str, str]) -> None:
    pipe = screens.pipe()
    status = await command_line.run(arguments.parsed(["status", "--json"]), pipe, environ)
    found = json.loads(screens.out(pipe))
    assert status == Exit.UNAVAILABLE
    assert {one["name"]: one["ready"] for one in found["services"]} == {
        "triton": False,
        "retrieval": True,
        "gateway": False,
        "ingest": False,
    }
    assert found["services"][0]["waits_for"] == ["e5_small", "lexical_late_interaction", "extractive"]
    assert found["index"] == {
        "generation": "g1",
        "revision": 7,
        "store": "edge",
        "topics": [
            {"topic": "physics", "documents": 1, "parents": 2, "children": 3},
            {"topic": "safety", "documents": 1, "parents": 2, "children": 3},
        ],
    }


async def test_status_for_people_says_what_is_down(environ: dict[str, str]) -> None:
    pipe = screens.pipe()
    await command_line.run(arguments.parsed(["status"]), pipe, environ)
    states = [line.split(maxsplit=3)[-1] for line in screens.out(pipe).splitlines()[1:5]]
    assert states == ["down", "ready, not started by `radrag up`", "down", "down"]
    assert "index: generation g1, revision 7, store edge" in screens.out(pipe)
