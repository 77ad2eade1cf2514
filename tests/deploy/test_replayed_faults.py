"""A real gateway's metrics under a fault, played to the rules: the intended alerts fire, and no others.

A minute of questions goes through the gateway's own path, over gRPC, with one part of it failing; what each
series grew by is taken as its growth per minute, for an hour and more.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import grpc
import pytest
from prometheus_client import REGISTRY

from gateway.counts import WATCH
from gateway.pipeline import Pipeline
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.telemetry import traced
from radrag.triton import ModelServer, Score
from tests.deploy.series import GATEWAY, HEALTHY, Series, counting, fire
from tests.gateway.channel import QUESTION, asking, without
from tests.gateway.fakes import down, rerank

# Says how busy the machine of the test is, not what the fault does.
MACHINES = "radrag_event_loop_lag"
A_MINUTE = 30  # questions of each kind
FULL = ("StatusCode.UNAVAILABLE", "Exceeds maximum queue size")


async def slow(asked: str, passages: Sequence[str]) -> list[Score]:
    await asyncio.sleep(3.0)
    return await rerank(asked, passages)


async def refused(asked: str, passages: Sequence[str]) -> list[Score]:
    """As when Triton's queue is full: its own words, taken by the code that takes them."""
    server = ModelServer("127.0.0.1:1", "reranker")
    try:
        raise server._failed(*FULL)
    finally:
        await server.close()


FAULTS: Mapping[str, tuple[Pipeline, Mapping[str, int]]] = {
    "nothing": (without(watch=WATCH), {}),
    "slow reranker": (
        without(rerank=traced("rerank", slow), watch=WATCH),
        {"RadragModelSlow": 1, "RadragSearchLatencyBurns": 4},
    ),
    "dead embedder": (
        without(embed=traced("embed", down("embedder")), watch=WATCH),
        {"RadragDegraded": 1},
    ),
    "rejected queue": (
        without(rerank=traced("rerank", refused), watch=WATCH),
        {"RadragModelQueueRejecting": 1, "RadragAvailabilityBurns": 4},
    ),
}


def counted() -> dict[str, float]:
    """Every counter of ours, as its series is written."""
    return {
        _series(sample.name, sample.labels): sample.value
        for family in REGISTRY.collect()
        if family.name.startswith("radrag_") and family.type in {"counter", "histogram"}
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def _series(name: str, labels: Mapping[str, str]) -> str:
    said = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f"{name}{{{said}}}"


async def a_minute_of(pipeline: Pipeline) -> Series:
    """What a minute of questions adds to each series."""
    before = counted()
    async with asking(pipeline) as stub:

        async def search() -> None:
            await stub.Search(wire.SearchRequest(question=QUESTION), timeout=20)

        async def answer() -> None:
            request = wire.GenerateStreamRequest(question=QUESTION)
            async for _ in stub.GenerateStream(request, timeout=20):
                pass

        asked = [one() for _ in range(A_MINUTE) for one in (search, answer)]
        ended = await asyncio.gather(*asked, return_exceptions=True)
    assert not [one for one in ended if isinstance(one, BaseException) and not isinstance(one, grpc.RpcError)]
    grown = {name: value - before.get(name, 0.0) for name, value in counted().items()}
    return {name: counting(by) for name, by in grown.items() if not name.startswith(MACHINES)}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_replayed_fault_raises_the_intended_alerts_and_no_others(tmp_path: Path, fault: str) -> None:
    pipeline, expected = FAULTS[fault]
    others = {name: values for name, values in HEALTHY.items() if name not in GATEWAY}
    kept = ("up", "radrag_model_info", MACHINES)
    gauges = {name: values for name, values in GATEWAY.items() if name.startswith(kept)}
    recorded = await a_minute_of(pipeline)
    await asyncio.to_thread(fire, tmp_path, {**others, **gauges, **recorded}, expected)
