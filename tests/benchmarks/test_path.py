"""The path's benchmark on services in this process: what it keeps, calls straight, relays and divides."""

import asyncio
import importlib
import os
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from grpc import aio

from benchmarks import kept, path, path_rows, reranking, stand, streams
from benchmarks.least import least
from benchmarks.relaying import relays
from benchmarks.relays import PIECES
from benchmarks.stand import Stand
from cli import places
from cli.process import Child
from cli.triton_server import TritonServer
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


async def test_stages_are_those_that_replies_report_by_call_and_callers(
    here: tuple[Stand, triton.Models], capsys: pytest.CaptureFixture[str]
) -> None:
    heard: path_rows.Heard = {}
    asked = Namespace(at_once=[1, 2], rounds=2, seconds=0, least=3)
    async with path._callers(here[0], "test", 60) as calls:
        own = {name: calls[name] for name in ("search", "prompt", "generate", "first token", "two hops")}
        loads = await path._rounds(own, {"caller": os.getpid()}, asked, heard)
    assert heard.keys() == {f"{name} @{at_once}" for name in path_rows.STAGED for at_once in (1, 2)}
    every = {"scope", "embed", "search", "rerank", "prompt", "generate", "verify"}
    assert every <= heard["generate @1"].keys()
    assert not {"generate", "verify"} & heard["prompt @1"].keys()
    assert {len(times) for times in heard["generate @2"].values()} == {12}  # and no call that only warms
    assert len(loads["generate", 2]) == 2
    figures = path_rows.stages(heard)["search @2"]["embed"]
    assert 0 <= figures["least"] <= figures["median"] <= figures["p95"] <= figures["most"]
    assert capsys.readouterr().out.count("generate") == 2


def test_triton_is_watched_with_its_models_and_the_benchmark_with_itself(tmp_path: Path) -> None:
    server = TritonServer(Child("triton", tmp_path), (), free_port())
    made = Stand(tmp_path, {}, server, (), {"gateway": 7})
    assert path._watched(made) == {"gateway": 7, "caller": os.getpid()}
    started = server.child.start((sys.executable, "-c", "input()"), os.environ, tmp_path)
    assert path._watched(made) == {"gateway": 7, "triton": -started.pid, "caller": os.getpid()}


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


def streamed(seconds: float, cpu: float = 1.0, frames: int = 100) -> streams.Run:
    return streams.Run(100, cpu, seconds * streams.WORDS * streams.SECONDS_A_WORD, frames)


async def test_a_relay_may_gather_the_pieces_of_a_stream(here: tuple[Stand, triton.Models]) -> None:
    made, _ = here
    said = await kept.captured(made, path._questions(1)[0], MODELS[2])
    texts = {}
    async with relays(made, said) as addresses, aio.insecure_channel(addresses["path"]) as channel:
        for pieces in (1, 3):
            frames = AssistantServiceStub(channel).GenerateStream(
                wire.GenerateStreamRequest(question=ASKED), metadata=((PIECES, str(pieces)),)
            )
            texts[pieces] = [frame.text async for frame in frames]
    assert "".join(texts[1]) == "".join(texts[3])
    assert [len(text.split()) for text in texts[3][:-1]] == [3] * (len(texts[1]) // 3)


async def test_rounds_of_streams_turn_round_and_the_gathering_relay_sends_frames_as_the_gateway_did() -> None:
    asked = []

    async def passed(way: str, count: int, words: int) -> streams.Run:
        asked.append((way, count, words))
        number = len(asked)
        return streamed(1.0, cpu=number if way == "gateway" else 1.0, frames=8 if way == "gateway" else 100)

    runs = await streams._rounds(passed, 4, 2)
    ways = [("relay", 4, 1), ("gateway", 4, 1), ("gathering", 4, 12)]
    assert asked == [*ways, *reversed(ways)]
    figures = streams._figures(runs)
    assert figures["cpu_ratio"] == figures["cpu_ratio_to_gathering"]
    assert figures["cpu_ratio"] == {"median": 3.5, "least": 2.0, "most": 5.0}
    assert figures["gateway"] == {
        "cpu_us_per_token": 35000.0, "tokens_per_frame": 12.5, "time_over_words": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("slow_from", "held", "tried", "most"),
    [
        (256, 32, {"64": 1.0, "128": 1.0, "256": 1.2}, 128),
        (1000, 32, {"64": 1.0, "128": 1.0, "256": 1.0, "512": 1.0}, 512),
        (64, 32, {"64": 1.2}, 32),
        (8, 0, {}, 0),
    ],
)
async def test_streams_are_doubled_until_the_relay_is_late(
    slow_from: int, held: int, tried: dict[str, float], most: int
) -> None:
    async def passed(way: str, count: int, words: int) -> streams.Run:
        if way == "gateway":
            assert count == most
            return streamed(1.1)
        return streamed(1.2 if count >= slow_from else 1.0)

    ours = 1.1 if most else None
    assert await streams._limit(passed, held) == {"streams": most, "relay": tried, "gateway": ours}


def test_reranking_is_measured_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(reranking.FIT))
    monkeypatch.setattr(importlib.import_module("cost"), "PARENTS", 2)  # the figure wants 13, the test none
    told = reranking.over_encoder(rounds=1)
    assert isinstance(told["encoder_cpu_s"], float)
    assert told["encoder_cpu_s"] > 0
