"""A model whose device is lost tells the server above it to end, and refuses until it does."""

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cli.model_environment import MODEL_REPOSITORY

# A server that is a parent of its model's process, as Triton is of the Python backend's.
SERVER = """
import subprocess, sys, time
model = subprocess.Popen([sys.argv[1], "-c", sys.argv[2]])
print("ended", model.wait(), flush=True) if sys.argv[3] == "waits" else time.sleep(60)
"""
MODEL = f"""
import sys
sys.path.insert(0, {str(MODEL_REPOSITORY / "frida" / "1")!r})
from failures import DeviceLost
from model_health import Health

def lost():
    raise DeviceLost("RuntimeError in x.py:1: CUDA error: device-side assert triggered")

health = Health("frida")
print(health.kept(lambda: 5), flush=True)
print(health.kept(lost), health.kept(lambda: 5), flush=True)
"""
LINE = (
    "frida can serve no more: RuntimeError in x.py:1: CUDA error: device-side assert triggered."
    " Triton is told to end, so that it is started anew\n"
)


def ran(folder: Path, name: str, how: str) -> "subprocess.CompletedProcess[str]":
    """The server under that name, as the kernel has it."""
    program = folder / name
    program.symlink_to(Path(sys.executable).resolve())
    command = [str(program), "-c", SERVER, sys.executable, MODEL, how]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_the_server_is_told_to_end_once_and_everything_is_refused_from_then_on(tmp_path: Path) -> None:
    run = ran(tmp_path, "tritonserver", "sleeps")
    assert run.returncode == -signal.SIGTERM
    assert run.stdout == "5\nNone None\n"
    assert run.stderr == LINE


def test_below_another_parent_the_process_itself_ends(tmp_path: Path) -> None:
    run = ran(tmp_path, "launcher", "waits")
    assert (run.returncode, run.stdout, run.stderr) == (0, "5\nended 1\n", LINE)


def test_other_failures_are_not_taken_for_a_lost_device() -> None:
    from model_health import Health

    with pytest.raises(KeyError):
        Health("frida").kept(lambda: dict[str, int]()["x"])


def backend() -> Any:
    """What the Python backend gives a model, as far as it is used here."""
    module: Any = ModuleType("triton_python_backend_utils")

    class TritonError(Exception):
        UNAVAILABLE, INVALID_ARG, CANCELLED, INTERNAL = "UNAVAILABLE", "INVALID_ARG", "CANCELLED", "INTERNAL"

        def __init__(self, message: str, code: str) -> None:
            super().__init__(message)
            self.code = code

    def response(tensors: object, error: object = None) -> SimpleNamespace:
        return SimpleNamespace(tensors=tensors, error=error)

    module.TritonError, module.InferenceResponse = TritonError, response
    module.Tensor = lambda name, values: (name, values)
    module.get_input_tensor_by_name = lambda request, name: request.tensors[name]
    return module


def request(**tensors: object) -> SimpleNamespace:
    columns = {name: SimpleNamespace(as_numpy=lambda value=value: value) for name, value in tensors.items()}
    return SimpleNamespace(tensors=columns, is_cancelled=lambda: False)


REQUESTS = {
    "frida": lambda: request(
        TEXT=np.array([[b"CANARY"]], object),
        TASK=np.array([[b"query"]], object),
        SPANS=np.empty((1, 0, 2), np.int32),
    ),
    "qwen3_reranker": lambda: request(
        QUERY=np.array([[b"dose?"]] * 2, object), PASSAGE=np.array([[b"CANARY"]] * 2, object)
    ),
}


@pytest.fixture
def lost_model(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, list[int], list[str]]:
    """Triton's side of a model whose device is lost; the passes tried, and what the server was told."""
    import model_health
    from failures import DeviceLost

    name: str = request.param
    monkeypatch.setitem(sys.modules, "triton_python_backend_utils", backend())
    monkeypatch.delitem(sys.modules, "model_start", raising=False)
    spec = importlib.util.spec_from_file_location("one_model", MODEL_REPOSITORY / name / "1" / "model.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tried: list[int] = []
    told: list[str] = []

    def fails(rows: list[object]) -> None:
        tried.append(len(rows))
        raise DeviceLost("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(model_health, "end_server", told.append)
    model = module.TritonPythonModel()
    model.health = model_health.Health(name)
    model.embedder, model.reranker = SimpleNamespace(embed=fails), SimpleNamespace(rerank=fails)
    model.one = REQUESTS[name]
    return model, tried, told


@pytest.mark.parametrize("lost_model", REQUESTS, indirect=True)
def test_every_request_gets_its_refusal_and_the_device_is_asked_once(
    lost_model: tuple[Any, list[int], list[str]],
) -> None:
    model, tried, told = lost_model
    one: Callable[[], SimpleNamespace] = model.one
    for _ in range(2):
        found = model.execute([one(), one(), one()])
        assert [answer.error.code for answer in found] == ["UNAVAILABLE"] * 3
        assert not any("CANARY" in str(answer.error) for answer in found)
    assert len(tried) == 1
    assert told == [
        f"{model.health.model} can serve no more: CUDA error: an illegal memory access was encountered"
    ]
