"""The stack under test: the session's Triton, a retrieval service and a gateway, with the samples in."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli import places, services, supervision
from cli.process import Child
from cli.supervision import Service
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from radrag.settings import Settings
from tests.conftest import ran
from tests.otlp import Receiver
from tests.ports import free_grpc_port, free_port

SAMPLES = places.ROOT / "var" / "samples" / "manifest.yaml"
MODELS = Path(__file__).parent / "models"
NULL = ("null_embedder", "null_reranker", "null_generator")
FEW = sorted((places.ROOT / "samples" / "documents" / "safety").glob("*.md"))[:3]


@dataclass(frozen=True)
class Stack:
    """Where it listens, what it was started with, and its processes by name."""

    environ: Mapping[str, str]
    services: Mapping[str, Service]

    @property
    def gateway(self) -> str:
        return self.environ["RADRAG_GATEWAY_ADDRESS"]

    @property
    def retrieval(self) -> str:
        return self.environ["RADRAG_RETRIEVAL_ADDRESS"]

    @property
    def http(self) -> str:
        return f"http://{self.environ['RADRAG_HTTP_ADDRESS']}"

    def radrag(self, *words: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """Runs `radrag WORDS` against this stack."""
        line = [sys.executable, "-m", "cli", *words]
        return subprocess.run(
            line,
            env=dict(self.environ),
            cwd=places.ROOT,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def start(self, *names: str) -> None:
        """Starts the named services and waits until they take calls."""
        wanted = [self.services[name] for name in names]
        ran(supervision.up(wanted, Terminal(), 120))

    def stop(self, *names: str) -> None:
        """Stops the named services."""
        ran(supervision.down([self.services[name].child for name in names]))


def environ(home: Path, embedder: str, reranker: str, generator: str, **more: str) -> dict[str, str]:
    """Settings for a stack of its own at `home`, its model servers where the addresses say."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RADRAG_", "OTEL_"))}
    addresses = {f"RADRAG_{name}_ADDRESS": f"127.0.0.1:{free_port()}" for name in ("GATEWAY", "RETRIEVAL")}
    urls = {
        "RADRAG_EMBEDDER_URL": embedder,
        "RADRAG_RERANKER_URL": reranker,
        "RADRAG_GENERATOR_URL": generator,
    }
    return clean | addresses | urls | {"RADRAG_HOME": str(home), "RADRAG_INSECURE_DEV": "true"} | more


def made(settings: Mapping[str, str]) -> Stack:
    """A stack that is not running yet."""
    profile = services.profile(Settings.from_environ(settings), settings)
    return Stack(settings, {one.child.name: one for one in profile.services if one.child.name != "triton"})


@contextmanager
def running(settings: Mapping[str, str]) -> Iterator[Stack]:
    """A running stack, stopped at the end whatever happened."""
    with started(settings, "retrieval", "gateway") as stack:
        yield stack


@asynccontextmanager
async def gateway(settings: Mapping[str, str]) -> AsyncIterator[str]:
    """A gateway for one test, on the retrieval service that the settings name. Yields its address."""
    one = made(settings)
    try:
        await supervision.up([one.services["gateway"]], Terminal(), 60)
        yield one.gateway
    finally:
        await supervision.down([one.services["gateway"].child])


@pytest.fixture(scope="session")
def stack(
    triton: TritonServer, collector: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """The cpu profile with the sample knowledge base, published; its spans go to the collector."""
    home = tmp_path_factory.mktemp("stack")
    (home / "tmp").mkdir()
    telemetry = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_BSP_SCHEDULE_DELAY": "300",
        "TMPDIR": str(home / "tmp"),
        "RADRAG_HTTP_ADDRESS": f"127.0.0.1:{free_port()}",
    }
    with running(environ(home, triton.grpc, triton.grpc, triton.grpc, **telemetry)) as one:
        done = one.radrag("ingest", "--manifest", str(SAMPLES), "--approve", "--json")
        assert done.returncode == 0, done.stderr
        yield one


@pytest.fixture(scope="session")
def light(collector: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """All processes on a real Triton whose models compute nothing, with three documents published.

    For what is true of any answer: it takes seconds, also on a busy machine.
    """
    home = tmp_path_factory.mktemp("light")
    child, port = Child("triton", home), free_grpc_port()
    triton = TritonServer(child, NULL, port, repository=MODELS, traces=collector.url)
    ran(triton.start())
    try:
        with started(light_settings(home, triton, collector), "retrieval", "gateway", "ingest") as one:
            done = one.radrag("ingest", *map(str, FEW), "--topic", "safety", "--approve", "--json")
            assert done.returncode == 0, done.stdout + done.stderr
            yield one
    finally:
        ran(triton.stop())


def light_settings(home: Path, triton: TritonServer, collector: Receiver) -> dict[str, str]:
    (home / "tmp").mkdir()
    (home / "thresholds.json").write_text(json.dumps({"rerank": {"null_reranker": {"score": 0.5}}}))
    return environ(
        home, triton.grpc, triton.grpc, triton.grpc,
        RADRAG_EMBEDDER_MODEL="null_embedder",
        RADRAG_RERANKER_MODEL="null_reranker",
        RADRAG_GENERATOR_MODEL="null_generator",
        RADRAG_THRESHOLDS=str(home / "thresholds.json"),
        RADRAG_INGEST_ADDRESS=f"127.0.0.1:{free_port()}",
        RADRAG_REFLECTION="true",
        RADRAG_HTTP_ADDRESS=f"127.0.0.1:{free_port()}",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_BSP_SCHEDULE_DELAY="300",
        TMPDIR=str(home / "tmp"),
    )  # fmt: skip


@contextmanager
def started(settings: Mapping[str, str], *names: str) -> Iterator[Stack]:
    """A stack of these processes, stopped at the end whatever happened."""
    stack = made(settings)
    try:
        stack.start(*names)
        yield stack
    finally:
        stack.stop(*names)


@asynccontextmanager
async def lent(server: TritonServer, seconds: float = 120) -> AsyncIterator[TritonServer]:
    """A Triton for one test."""
    await server.start(seconds)
    try:
        yield server
    finally:
        await server.stop()


@contextmanager
def slowly(light: Stack, collector: Receiver, home: Path) -> Iterator[tuple[Stack, TritonServer]]:
    """A gateway whose generator writes for half a minute, and that generator's server.

    All else is the light stack's; `home` holds its own audit trail.
    """
    child, models = Child("slow", home), ("slow_words",)
    server = TritonServer(child, models, free_grpc_port(), repository=MODELS, traces=collector.url)
    settings = {
        **light.environ,
        "RADRAG_HOME": str(home),
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{free_port()}",
        "RADRAG_HTTP_ADDRESS": "",
        "RADRAG_GENERATOR_URL": server.grpc,
        "RADRAG_GENERATOR_MODEL": "slow_words",
    }
    ran(server.start())
    try:
        with started(settings, "gateway") as stack:
            yield stack, server
    finally:
        ran(server.stop())
