"""What a real Triton's full queue refuses is counted by its callers, each refusal once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.errors import Overloaded
from radrag.triton import ModelServer
from tests.integration.conftest import MODELS, lent
from tests.ports import free_grpc_port

CALLS = 12


@pytest.fixture
async def crowded(tmp_path: Path) -> AsyncIterator[ModelServer]:
    triton = TritonServer(Child("crowded", tmp_path), ("crowded",), free_grpc_port(), repository=MODELS)
    async with lent(triton):
        server = ModelServer(triton.grpc, "reranker")
        yield server
        await server.close()


def refused() -> float:
    return REGISTRY.get_sample_value("radrag_rejected_total", {"reason": "model_queue"}) or 0.0


async def test_a_full_queues_refusals_are_counted_where_they_arrive(crowded: ModelServer) -> None:
    before = refused()
    asked = (crowded.rerank("crowded", "a question", ["a passage"]) for _ in range(CALLS))
    ended = await asyncio.gather(*asked, return_exceptions=True)
    overloaded = [one for one in ended if isinstance(one, Overloaded)]
    assert {one.reason for one in overloaded} == {"MODEL_QUEUE_FULL"}
    assert all(one.retry_after for one in overloaded)
    # One or a batch computes, two wait: of twelve at once most find no room, and some are answered.
    assert 1 <= len(overloaded) < CALLS
    assert len(overloaded) + sum(isinstance(one, list) for one in ended) == CALLS
    assert refused() - before == len(overloaded)
