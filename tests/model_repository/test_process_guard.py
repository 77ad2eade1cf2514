"""A model's process that dies ends its server, so that it is started anew; one that ends well does not."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.model_environment import MODEL_REPOSITORY
from cli.process import Child
from cli.triton_server import TritonServer
from tests.ports import free_grpc_port

GUARD = MODEL_REPOSITORY / "e5_small" / "1"
# Its name is what the guard looks for, and it ends with status 0 when it is told to.
SERVER = """#!{python}
import signal, subprocess, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
subprocess.run([sys.executable, "-c", sys.argv[1]], cwd={folder!r})
signal.sigtimedwait([], 3)
sys.exit(7)
"""
MODEL = "import os, process_guard; guard = process_guard.ProcessGuard('one'); "


def told_to_end(folder: Path, model: str, name: str = "tritonserver") -> tuple[bool, str]:
    """Whether the model's end ended its server, and what was said."""
    server = folder / name
    server.write_text(SERVER.format(python=sys.executable, folder=str(GUARD)), encoding="utf-8")
    server.chmod(0o755)
    done = subprocess.run(
        [str(server), MODEL + model], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in {0, 7}, done.stderr
    return done.returncode == 0, done.stderr


@pytest.mark.parametrize("death", ["os._exit(1)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_a_process_that_dies_ends_its_server_and_says_whose_it_was(tmp_path: Path, death: str) -> None:
    ended, said = told_to_end(tmp_path, death)
    assert ended
    assert "one: its process has died" in said


def test_a_process_that_ends_as_it_should_ends_nobody(tmp_path: Path) -> None:
    assert told_to_end(tmp_path, "guard.dismiss()") == (False, "")


def test_nobody_but_a_triton_is_ended(tmp_path: Path) -> None:
    assert told_to_end(tmp_path, "os._exit(1)", name="another") == (False, "")


def test_every_model_in_python_has_one() -> None:
    for program in MODEL_REPOSITORY.glob("*/1/model.py"):
        assert "self.guard = ProcessGuard(args[" in program.read_text(encoding="utf-8"), program
        assert "self.guard.dismiss()" in program.read_text(encoding="utf-8"), program
        assert (program.parent / "process_guard.py").resolve() == GUARD / "process_guard.py"


async def test_a_real_server_ends_when_a_models_process_is_killed(tmp_path: Path) -> None:
    server = TritonServer(Child("triton", tmp_path), ("lexical_late_interaction",), free_grpc_port())
    await server.start(seconds=300)
    try:
        for pid in processes(server, "lexical_late_interaction/1/model.py"):
            os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        while server.child.running():
            assert time.monotonic() - began < 60, "Triton runs on without the model"
            await asyncio.sleep(0.2)
        assert "lexical_late_interaction: its process has died" in server.child.log.read_text(
            errors="replace"
        )
    finally:
        await server.stop()


def processes(server: TritonServer, program: str) -> list[int]:
    """Those of this server that run the program; another test's Triton may run it too."""
    running = server.child.running()
    assert running
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            parent = int((line.parent / "stat").read_text().rpartition(")")[2].split()[1])
            if program in line.read_text() and parent == running.pid:
                found.append(int(line.parent.name))
        except OSError:
            continue
    assert found
    return found
