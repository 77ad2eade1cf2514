"""One real Triton for the whole test run, on free ports; and the same random examples in every run."""

import asyncio
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import hypothesis
import pytest

from cli.model_environment import MODEL_REPOSITORY, ModelEnvironment
from cli.process import Child
from cli.triton_server import TritonNotReady, TritonServer
from tests.ports import free_grpc_port

if TYPE_CHECKING:
    from tests.otlp import Receiver

# RADRAG_TEST_RANDOM=1 looks for new counterexamples; a plain run is the same everywhere.
for name, fixed in (("fixed", True), ("random", False)):
    hypothesis.settings.register_profile(name, derandomize=fixed, deadline=None)
hypothesis.settings.load_profile("random" if os.environ.get("RADRAG_TEST_RANDOM") else "fixed")

EMBEDDERS = ("e5_small", "e5_small_late", "e5_small_blend")
OTHERS = ("lexical_late_interaction", "extractive")

T = TypeVar("T")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes are called by their number: what gzip makes holds the second it was made in, and all workers of a
    run must have the same names."""
    return f"{len(val)} bytes" if isinstance(val, bytes | bytearray) else None


@pytest.fixture(scope="session")
def collector() -> "Iterator[Receiver]":
    """Where all processes of the run send their spans."""
    # Not in the model servers' environment, where the PyTorch tests run.
    from tests.otlp import receiving

    with receiving() as one:
        yield one


def ran(work: Coroutine[Any, Any, T]) -> T:
    """What it returns, run on a loop in another thread: a browser's own loop may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.fixture(scope="session")
def triton(tmp_path_factory: pytest.TempPathFactory, collector: "Receiver") -> Iterator[TritonServer]:
    """The CPU models, READY. A test that kills it starts it again: `kill()`, then `await start()`."""
    if not ModelEnvironment().ready:
        pytest.fail("the model servers are not set up, or from other requirements: run `make models`")
    child = Child("triton", tmp_path_factory.mktemp("triton"))
    models = (*EMBEDDERS, *filter(complete, OTHERS))
    server = TritonServer(child, models, free_grpc_port(), traces=collector.url)
    try:
        ran(server.start(seconds=300))
    except TritonNotReady as failure:
        pytest.fail(str(failure))
    yield server
    lost = ran(server.missing())
    ran(server.stop())
    if lost:
        pytest.fail("\n".join([f"ended or stuck before the tests' end: {lost}", *child.last_lines()]))


def complete(model: str) -> bool:
    folder = MODEL_REPOSITORY / model
    return (folder / "config.pbtxt").is_file() and (folder / "1" / "model.py").is_file()
