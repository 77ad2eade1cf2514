"""No caller's context is lost on its way into Triton: every traced call has Triton's spans below it."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from radrag import telemetry
from radrag.triton import ModelServer
from tests.integration.conftest import MODELS
from tests.integration.test_traces import Caller
from tests.otlp import Receiver
from tests.ports import free_grpc_port

# With memory as it comes, Triton 2.51 loses the context of one to ten in a hundred.
CALLS = 500


async def test_of_many_traced_calls_none_is_without_tritons_spans(
    collector: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = TritonServer(
        Child("traced", tmp_path),
        ("null_embedder",),
        free_grpc_port(),
        repository=MODELS,
        traces=collector.url,
    )
    await server.start()
    try:
        callers = [Caller() for _ in range(CALLS)]
        model = ModelServer(server.grpc, "embedder")
        for caller in callers:
            monkeypatch.setattr(telemetry, "propagated", partial(getattr, caller, "metadata"))
            await model.embed("null_embedder", "lens", "query")
        await model.close()
        await asyncio.to_thread(collector.wait, callers[-1].trace, lambda spans: len(spans) >= 2, 20)
    finally:
        await server.stop()  # sends what is left
    lost = [number for number, caller in enumerate(callers) if len(collector.of(caller.trace)) < 2]
    assert not lost
