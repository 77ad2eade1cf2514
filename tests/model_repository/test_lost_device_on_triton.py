"""A model whose device is lost, on a real Triton: it says why, refuses, and the server ends."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.errors import ModelUnavailable
from radrag.triton import ModelServer
from tests.model_repository.tiny_bundles import tiny_bundle
from tests.model_repository.tiny_repository import TinyRepository
from tests.ports import free_grpc_port

SECRET = "CANARY 5 mSv"
# Stands in the model's folder in front of the real program of that name: the pass fails as the file says.
FAULTY = """
import importlib.util
from pathlib import Path
from tests.ports import free_grpc_port

spec = importlib.util.spec_from_file_location("real_start", {start!r})
real = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)
fault = Path({fault!r})


def {name}(*given):
    started = real.{name}(*given)
    model = {model}
    forward, answers = model._forward, model.faults.answers

    def fails(*rows):
        if fault.exists():
            raise RuntimeError(fault.read_text(encoding="utf-8"))
        return forward(*rows)

    model._forward = fails
    model.faults.answers = lambda: answers() and "CUDA" not in (fault.read_text() if fault.exists() else "")
    return started
"""
START = {
    "frida": ("frida_start.py", "started_embedder", "started.encoder"),
    "qwen3_reranker": ("qwen3_start.py", "started_reranker", "started[0]"),
}


@pytest.fixture
def fault(tmp_path: Path) -> Path:
    return tmp_path / "fault"


@pytest_asyncio.fixture(params=START)
async def triton(request: pytest.FixtureRequest, tmp_path: Path, fault: Path) -> AsyncIterator[TritonServer]:
    kind = str(request.param)
    repository = faulty_repository(tmp_path, kind, fault)
    server = TritonServer(Child("triton", tmp_path), (kind,), free_grpc_port(), repository=repository.models)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    await server.start(240)
    yield server
    await server.stop()


def faulty_repository(folder: Path, kind: str, fault: Path) -> TinyRepository:
    repository, weights = TinyRepository(folder), tiny_bundle(kind)
    repository.add(kind, kind, weights, {"context": "512"} if kind == "qwen3_reranker" else None)
    repository.pinned(kind, weights)
    code, (file, name, model) = repository.models / kind / "1", START[kind]
    real = code.resolve()
    code.unlink()
    code.mkdir()
    for program in real.glob("*.py"):
        (code / program.name).symlink_to(program.resolve())
    (code / file).unlink()
    text = FAULTY.format(start=str(real / file), fault=str(fault), name=name, model=model)
    (code / file).write_text(text, encoding="utf-8")
    return repository


async def asked(models: ModelServer, server: TritonServer) -> bool:
    """Whether it answers with a number; a pair's NaN is none."""
    if server.models == ("frida",):
        return bool((await models.embed("frida", SECRET, "query")).vectors.size)
    (score,) = await models.rerank("qwen3_reranker", "dose?", [SECRET])
    return score.value == score.value


def happen(fault: Path, what: str) -> None:
    fault.write_text(what, encoding="utf-8")


async def test_it_says_why_refuses_and_the_server_ends(triton: TritonServer, fault: Path) -> None:
    models = ModelServer(triton.grpc, "model")
    assert await asked(models, triton)
    happen(fault, f"a bug with {SECRET}")
    if triton.models == ("frida",):
        with pytest.raises(ModelUnavailable):
            await asked(models, triton)
    else:
        assert not await asked(models, triton)
    fault.rename(fault.with_suffix(".over"))  # noqa: ASYNC240
    assert await asked(models, triton), "a bug costs its own request only"

    happen(fault, f"CUDA error: an illegal memory access was encountered\n{SECRET}")
    with pytest.raises(ModelUnavailable):
        await asked(models, triton)
    began = time.monotonic()
    while triton.child.running():
        assert time.monotonic() - began < 60, "the server goes on"
        with pytest.raises(ModelUnavailable):
            await asked(models, triton)
        await asyncio.sleep(0.2)
    await models.close()
    log = triton.child.log.read_text(encoding="utf-8", errors="replace")
    (line,) = [one for one in log.splitlines() if "can serve no more" in one]
    assert line.startswith(f"{triton.models[0]} can serve no more: RuntimeError in ")
    assert "CUDA error: an illegal memory access was encountered. Triton is told to end" in line
    assert "1 rows failed together: RuntimeError in " in log
    assert "CANARY" not in log
