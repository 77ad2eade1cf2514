"""A stack that faults are done to: Triton with models that compute nothing, retrieval, two gateways."""

import asyncio
import itertools
import os
import signal
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grpc import aio

from cli import health, supervision
from cli.process import Child
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from tests.conftest import ran
from tests.integration.conftest import FEW, MODELS, NULL, Stack, environ, started
from tests.ports import free_grpc_port, free_port

QUESTION = "What is the yearly occupational limit for the eye lens?"
# A model that computes nothing cannot tell what a question is about.
ALWAYS = {"scope"}
DEADLINE = 10.0
CASES = itertools.count()
SPARE = 2.0  # a busy machine's


@dataclass(frozen=True)
class Seen:
    """How a call ended, what it says it lacked, and how long it took."""

    code: str
    degraded: frozenset[str]
    seconds: float


@dataclass(frozen=True)
class Standing:
    """The stack, its Triton, and a second gateway beside the first."""

    stack: Stack
    triton: TritonServer
    second: Stack

    @property
    def home(self) -> Path:
        """Where its state is."""
        return Path(self.stack.environ["RADRAG_HOME"])

    def pid(self, name: str) -> int:
        """The process of a service, or of Triton."""
        child = self.triton.child if name == "triton" else self.stack.services[name].child
        running = child.running()
        assert running, name
        return running.pid

    def signal(self, name: str, number: signal.Signals) -> None:
        """To a process and all that it started."""
        os.killpg(self.pid(name), number)

    def model(self, name: str, act: str) -> None:
        """`load` or `unload` a model of the running Triton."""
        url = f"http://{self.triton.http}/v2/repository/models/{name}/{act}"
        with urllib.request.urlopen(urllib.request.Request(url, b"{}"), timeout=60) as reply:
            assert reply.status == 200

    async def start(self, *names: str) -> float:
        """Starts services; seconds until they take calls."""
        began = time.monotonic()
        await supervision.up([self.stack.services[name] for name in names], Terminal(), 60)
        return time.monotonic() - began


@contextmanager
def standing(home: Path) -> Iterator[Standing]:
    """All of it, running, with three documents published."""
    triton = TritonServer(Child("triton", home), NULL, free_grpc_port(), repository=MODELS)
    (home / "thresholds.json").write_text('{"rerank": {"null_reranker": {"score": 0.5}}}', encoding="utf-8")
    settings = environ(
        home, triton.grpc, triton.grpc, triton.grpc,
        RADRAG_EMBEDDER_MODEL="null_embedder", RADRAG_RERANKER_MODEL="null_reranker",
        RADRAG_GENERATOR_MODEL="null_generator", RADRAG_THRESHOLDS=str(home / "thresholds.json"),
        RADRAG_INGEST_ADDRESS=f"127.0.0.1:{free_port()}", RADRAG_MODEL_PATIENCE_SECONDS="0",
        RADRAG_EMBED_SECONDS="2", RADRAG_RERANK_SECONDS="2", RADRAG_SEARCH_SECONDS="3",
    )  # fmt: skip
    (home / "second").mkdir()
    other = {
        **settings, "RADRAG_HOME": str(home / "second"),
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{free_port()}", "RADRAG_SEARCH_SECONDS": "25",
    }  # fmt: skip
    ran(triton.start())
    try:
        with (
            started(settings, "retrieval", "gateway", "ingest") as stack,
            started(other, "gateway") as second,
        ):
            done = stack.radrag("ingest", *map(str, FEW), "--topic", "safety", "--approve", "--json")
            assert done.returncode == 0, done.stdout + done.stderr
            yield Standing(stack, triton, second)
    finally:
        ran(triton.stop())


async def search(address: str, deadline: float = DEADLINE) -> Seen:
    """One search, not tried again: what the gateway itself answers, and when."""
    began = time.monotonic()
    async with aio.insecure_channel(address, options=[("grpc.enable_retries", 0)]) as channel:
        stub = AssistantServiceStub(channel)
        code, degraded = "OK", frozenset[str]()
        try:
            asked = pb.SearchRequest(question=f"{QUESTION} Case {next(CASES)}.")  # that no cache knows
            reply = await stub.Search(asked, timeout=deadline)
            said = [one for one in reply.warnings if one.kind == pb.Warning.KIND_DEGRADED]
            degraded = frozenset(one.detail for one in said) - ALWAYS
        except aio.AioRpcError as error:
            code = error.code().name
    return Seen(code, degraded, time.monotonic() - began)


async def until(wanted: Callable[[], Awaitable[bool]], seconds: float) -> float:
    """Seconds until it is so. Raises TimeoutError."""
    began = time.monotonic()
    while not await wanted():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not so after {seconds:.0f} s")
        await asyncio.sleep(0.1)
    return time.monotonic() - began


async def well(address: str) -> bool:
    """Whether a search is answered with every part."""
    seen = await search(address)
    return seen.code == "OK" and not seen.degraded


async def serving(address: str) -> bool:
    """Whether its health port says so."""
    return await health.serving(address)
