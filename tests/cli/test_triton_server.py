"""How Triton is started, and what is said when it cannot be."""

import asyncio
import os
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tritonclient.grpc import aio

from cli.model_environment import ModelEnvironment
from cli.process import SHARED_MEMORY, Child
from cli.triton_server import (
    TritonNotReady,
    TritonServer,
    command,
    environ,
    shared_memory_prefix,
)
from tests.ports import free_grpc_port

BROKEN = """
class TritonPythonModel:
    def initialize(self, args):
        raise RuntimeError("golden case 3: cosine 0.1")
"""
ECHO = """
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        texts = [pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy() for request in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("ECHO", text)]) for text in texts]
"""
CONFIG = """name: "{name}" backend: "python" max_batch_size: 1
input {{ name: "TEXT" data_type: TYPE_STRING dims: 1 }}
output {{ name: "ECHO" data_type: TYPE_STRING dims: 1 }}
"""


def repository(folder: Path, **models: str) -> Path:
    for name, code in models.items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "1" / "model.py").write_text(code)
        (folder / name / "config.pbtxt").write_text(CONFIG.format(name=name))
    return folder


def server(folder: Path, *models: str, **code: str) -> TritonServer:
    child = Child("triton", folder / "home")
    return TritonServer(child, models, free_grpc_port(), repository=repository(folder / "models", **code))


def test_only_the_named_models_are_loaded_and_only_on_the_given_address() -> None:
    line = command(("one", "two"), "127.0.0.1", 8001)
    assert {"--model-control-mode=explicit", "--load-model=one", "--load-model=two"} <= set(line)
    assert {"--http-port=8000", "--grpc-port=8001", "--metrics-port=8002"} <= set(line)
    assert [option for option in line if "address" in option] == [
        "--http-address=127.0.0.1",
        "--grpc-address=127.0.0.1",
        "--metrics-address=127.0.0.1",
    ]
    assert not any("trace" in option for option in line)


def test_spans_go_to_the_given_endpoint_and_only_for_requests_that_are_traced() -> None:
    line = command(("one",), "127.0.0.1", 8001, traces="http://collector:4318/")
    assert "--trace-config=opentelemetry,url=http://collector:4318/v1/traces" in line
    assert "--trace-config=rate=0" in line


def test_the_model_environment_comes_first_on_the_path(tmp_path: Path) -> None:
    """Else the stub takes another numpy, and text tensors come out corrupted."""
    child = environ({"PATH": "/usr/bin", "PYTHONPATH": "/elsewhere"}, ModelEnvironment(tmp_path))
    assert child["PATH"] == f"{tmp_path / 'bin'}{os.pathsep}/usr/bin"
    assert "PYTHONPATH" not in child


def test_a_traced_server_gets_zeroed_memory_where_there_is_jemalloc(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not {"LD_PRELOAD", "MALLOC_CONF"} & set(environ({}))
    traced = environ({"LD_PRELOAD": "libown.so"}, traced=True)
    assert traced["LD_PRELOAD"].split(os.pathsep)[1:] == ["libown.so"]
    assert traced["MALLOC_CONF"] == "zero:true"
    monkeypatch.setattr("cli.triton_server.find_library", lambda name: None)
    assert environ({"LD_PRELOAD": "libown.so"}, traced=True)["LD_PRELOAD"] == "libown.so"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("", "zero:true"),
        ("narenas:2", "narenas:2,zero:true"),
        ("narenas:2,junk:false", "narenas:2,junk:false,zero:true"),
        ("zero:false,narenas:2", "zero:false,narenas:2"),
    ],
)
def test_an_operators_own_options_of_jemalloc_are_kept(
    given: str, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.triton_server.find_library", lambda name: "libjemalloc.so.2")
    assert environ({"MALLOC_CONF": given}, traced=True)["MALLOC_CONF"] == used


async def test_a_model_that_refuses_to_start_is_named_with_its_reason(tmp_path: Path) -> None:
    broken = server(tmp_path, "bad", bad=BROKEN)
    with pytest.raises(TritonNotReady, match=r"(?s)ended while starting: bad.*golden case 3: cosine 0.1"):
        await broken.start(seconds=60)
    assert broken.child.running() is None


async def test_a_server_that_was_killed_is_not_ready_and_starts_again(tmp_path: Path) -> None:
    echo = server(tmp_path, "echo", echo=ECHO, unused=BROKEN)
    await echo.start(seconds=60)
    assert await echo.ready()
    echo.kill()
    assert not await echo.ready()
    await echo.start(seconds=60)
    assert await echo.ready()
    await echo.stop()
    assert echo.child.running() is None


async def test_nothing_of_a_killed_server_stays_in_shared_memory(tmp_path: Path) -> None:
    """It holds the last requests' texts."""
    echo = server(tmp_path, "echo", echo=ECHO)
    await echo.start(seconds=60)
    assert regions(echo)
    echo.kill()
    assert regions(echo)
    await echo.stop()
    assert not regions(echo)


async def test_a_traced_request_gets_tritons_own_spans_and_others_get_none(tmp_path: Path) -> None:
    """The caller's trace id arrives at the collector with Triton's spans under it."""
    received: asyncio.Queue[bytes] = asyncio.Queue()
    collector = await asyncio.start_server(partial(collect, received), "127.0.0.1", 0)
    port = collector.sockets[0].getsockname()[1]
    echo = replace(server(tmp_path, "echo", echo=ECHO), traces=f"http://127.0.0.1:{port}")
    await echo.start(seconds=60)
    async with aio.InferenceServerClient(echo.grpc) as client:
        await client.infer("echo", [text_input("another question")])
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        await client.infer("echo", [text_input("secret question")], headers={"traceparent": parent})
    spans = await asyncio.wait_for(received.get(), 30)
    await echo.stop()
    collector.close()
    assert set(re.findall(rb'"traceId":"(\w+)"', spans)) == {b"0af7651916cd43dd8448eb211c80319c"}
    assert b'"InferRequest"' in spans
    assert b"secret" not in spans


async def collect(
    received: asyncio.Queue[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """As much of an OTLP/HTTP collector as one export needs."""
    head = await reader.readuntil(b"\r\n\r\n")
    (length,) = re.findall(rb"(?i)content-length: (\d+)", head)
    received.put_nowait(await reader.readexactly(int(length)))
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    await writer.drain()
    writer.close()


def text_input(text: str) -> aio.InferInput:
    tensor = aio.InferInput("TEXT", [1, 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[text.encode()]], np.object_))
    return tensor


def regions(triton: TritonServer) -> list[Path]:
    return list(SHARED_MEMORY.glob(f"{shared_memory_prefix(triton.grpc_port)}*"))


async def test_a_model_that_is_not_ready_in_time_is_named(tmp_path: Path) -> None:
    slow = server(tmp_path, "slow", slow="import time\ntime.sleep(60)\n" + ECHO)
    with pytest.raises(TritonNotReady, match="not ready after 3 s: slow"):
        await slow.start(seconds=3)
    assert slow.child.running() is None


def test_an_environment_of_other_requirements_is_not_ready(tmp_path: Path) -> None:
    copy = ModelEnvironment(tmp_path)
    assert not copy.ready
    shutil.copy(ModelEnvironment().stamp, copy.stamp)
    assert copy.ready
    copy.stamp.write_text("0" * 64, encoding="ascii")
    assert not copy.ready


async def test_a_port_that_answers_in_another_language_is_a_model_not_ready(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        port: int = server.sockets[0].getsockname()[1]
        triton = TritonServer(Child("triton", tmp_path), ("some_model",), port + 1)  # HTTP is one below
        assert await triton.missing() == ["some_model"]
