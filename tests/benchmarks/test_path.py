"""The path's benchmark on services in this process: what it keeps, calls straight, relays and divides."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from grpc import aio

from benchmarks import kept, path, stand, streams
from benchmarks.least import least
from benchmarks.loops import Load
from benchmarks.relaying import relays
from benchmarks.stand import Stand
from cli import places
from gateway.__main__ import running
from radrag import serving
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.retrieval.v1 import retrieval_pb2_grpc
from radrag.settings import Settings
from retrieval.service import RetrievalService
from tests.benchmarks import triton
from tests.ports import free_port
from tests.retrieval.making import TOPICS
from tests.retrieval.running import room

ASKED = "What is the dose limit for the lens, case 7?"
MODELS = ("null_embedder", "null_reranker", "null_generator")


@dataclass(frozen=True)
class Address:
    """Stands for a Triton that is somebody else's."""

    grpc: str

    @property
    def grpc_port(self) -> int:
        return int(self.grpc.rpartition(":")[2])


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[tuple[Stand, triton.Models]]:
    """A gateway, an index of 60 children, and models that compute nothing."""
    (tmp_path / "thresholds.json").write_text(stand.THRESHOLDS, encoding="utf-8")
    async with triton.served() as (address, models), room(tmp_path / "index") as held:
        service = RetrievalService(held.index, held.searcher, held.bm25, topics=TOPICS, store="edge")
        index = await serving.start(
            lambda one: retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(service, one), "127.0.0.1:0"
        )
        environ = {
            "RADRAG_HOME": str(tmp_path), "RADRAG_INSECURE_DEV": "true", "RADRAG_AUDIT": "off",
            "RADRAG_GATEWAY_ADDRESS": "127.0.0.1:0", "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{index.port}",
            "RADRAG_INGEST_ADDRESS": "", "RADRAG_METRICS_HOST": "",
            "RADRAG_THRESHOLDS": str(tmp_path / "thresholds.json"),
            **{f"RADRAG_{role}_URL": address for role in stand.ROLES},
            **{f"RADRAG_{role}_MODEL": model for role, model in zip(stand.ROLES, MODELS, strict=True)},
        }  # fmt: skip
        await stand.publish(environ["RADRAG_RETRIEVAL_ADDRESS"], address, MODELS[0], 60)
        async with running(Settings.from_environ(environ)) as gateway:
            environ["RADRAG_GATEWAY_ADDRESS"] = f"127.0.0.1:{gateway.port}"
            made = Stand(tmp_path, environ, Address(address), MODELS, {})  # type: ignore[arg-type]
            yield made, models
        await index.stop()


async def test_every_way_to_ask_works_and_asks_each_server_as_often_as_it_says(
    here: tuple[Stand, triton.Models],
) -> None:
    made, models = here
    async with path._callers(made, "test", 60) as calls:
        asked = {}
        for name, ask in calls.items():
            models.asked.clear()
            await ask(0)
            asked[name] = list(models.asked)
    embed, rerank, write = MODELS
    assert asked["two hops"] == asked["store, direct"] == asked["search in process"] == []
    assert asked["direct"] == asked["bare prompt"] == asked["search"] == asked["prompt"] == [embed, rerank]
    assert asked["generate"] == [embed, rerank, write]
    assert asked["first token"] == [embed, rerank, write]


async def test_the_least_gateway_replies_as_ours_and_decides_and_tells_nothing(
    here: tuple[Stand, triton.Models],
) -> None:
    made, models = here
    nobody = {"RADRAG_INGEST_ADDRESS": f"127.0.0.1:{free_port()}"}
    made = replace(made, environ={**made.environ, **nobody})
    async with least(made) as address, AsyncExitStack() as open_:
        assert "least" in made.pids
        replies = []
        for at in (made.gateway, address):
            channel = await open_.enter_async_context(aio.insecure_channel(at))
            models.asked.clear()
            replies.append(await AssistantServiceStub(channel).Prompt(wire.PromptRequest(question=ASKED)))
            assert models.asked == [*MODELS[:2]]
            sick = wire.PromptRequest(question="I have chest pain, should I take aspirin?")
            models.asked.clear()
            await AssistantServiceStub(channel).Prompt(sick)
            replies.append(bool(models.asked))
    ours, deferred, bare, asked = replies
    assert ours.prompt == bare.prompt != ""
    assert list(ours.ranked_parents) == list(bare.ranked_parents)
    assert (deferred, asked) == (False, True)
    assert ours.stages
    assert not bare.stages
    log = made.home / "least" / "log" / "gateway.log"
    assert '"event": "call"' not in log.read_text(encoding="utf-8")
    assert "least" not in made.pids


def test_ratios_are_those_of_one_round() -> None:
    def rounds(*p50: float) -> list[Load]:
        return [Load([one] * 4, 4 * one, {"gateway": one, "path": one / 2}) for one in p50]

    loads = {
        ("search", 1): rounds(0.010, 0.020, 0.012),
        ("direct", 1): rounds(0.008, 0.016, 0.008),
        ("two hops", 1): rounds(0.002, 0.002, 0.002),
    }
    row = path._row(loads, "search", 1)
    assert row["over_direct"] == {"median": 1.25, "least": 1.25, "most": 1.5}
    assert row["hops_beyond_direct"] == {"median": 2.0, "least": 1.0, "most": 2.0}
    assert row["p50_ms"] == 12.0


async def test_stages_are_those_that_replies_report(here: tuple[Stand, triton.Models]) -> None:
    stages = await path._stages(here[0], path._questions(2))
    assert {"scope", "embed", "search", "rerank", "prompt", "generate", "verify"} <= stages.keys()
    assert all(milliseconds >= 0 for milliseconds in stages.values())


async def test_a_relayed_stream_ends_when_the_generator_has_ended(here: tuple[Stand, triton.Models]) -> None:
    """Triton keeps its side open as long as ours is."""
    made, _ = here
    said = await kept.captured(made, path._questions(1)[0], MODELS[2])
    async with relays(made, said) as addresses, asyncio.timeout(20):
        run = await streams._run(addresses["path"], "path", 2, made.pids, path._questions(1)[0])
    assert run.tokens > 2
    assert run.frames == run.tokens


def test_the_reranker_of_a_benchmark_remembers_no_passage(tmp_path: Path) -> None:
    folder = stand.repository_of(tmp_path, stand.CPU) / stand.RERANKER
    config = (folder / "config.pbtxt").read_text(encoding="utf-8")
    assert '"recent_megabytes" value: { string_value: "0" }' in config
    assert '"recent_megabytes" value: { string_value: "0" }' not in (
        places.MODEL_REPOSITORY / stand.RERANKER / "config.pbtxt"
    ).read_text(encoding="utf-8")
    assert (folder / "1" / "model.py").is_file()
