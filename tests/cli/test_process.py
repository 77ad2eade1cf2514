"""A detached child: a real process, recognised as ours or not, and stopped with all it started."""

import json
import os
import resource
import signal
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cli.process import SHARED_MEMORY, Child, identity

SLEEPER = "import time; time.sleep(600)"
STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); " + SLEEPER
)
# Starts a process of its own, says its pid, and leaves it alone when it is asked to end.
PARENT = (
    "import subprocess, sys, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
)


@pytest.fixture
async def child(tmp_path: Path) -> AsyncIterator[Child]:
    one = Child("sleeper", tmp_path)
    yield one
    await one.stop(0)


def start(child: Child, program: str) -> int:
    return child.start([sys.executable, "-c", program], os.environ, child.home).pid


def until(fact: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not fact() and time.monotonic() < end:
        time.sleep(0.02)
    return fact()


async def test_it_runs_in_a_session_of_its_own_and_is_found_again(child: Child) -> None:
    pid = start(child, SLEEPER)
    assert os.getsid(pid) == pid
    found = Child("sleeper", child.home).running()
    assert found is not None
    assert found.pid == pid


async def test_it_inherits_no_open_file_of_ours(child: Child, tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        pid = start(child, "print('loaded', flush=True); " + SLEEPER)
        assert until(lambda: child.last_lines() == ["loaded"])
        handles = {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}
    assert handles <= {"/dev/null", str(child.log)}


async def test_stopping_ends_it_and_forgets_it(child: Child) -> None:
    pid = start(child, SLEEPER)
    assert await child.stop(5)
    assert identity(pid) is None
    assert not child.pid_file.exists()
    assert not await child.stop(5)


async def test_one_that_will_not_end_is_killed(child: Child) -> None:
    pid = start(child, STUBBORN)
    assert until(lambda: child.last_lines() == ["deaf"])
    await child.stop(0.2)
    assert until(lambda: identity(pid) is None)


async def test_what_it_started_is_stopped_too(child: Child) -> None:
    start(child, PARENT)
    assert until(lambda: bool(child.last_lines()))
    grandchild = int(child.last_lines()[0])
    assert identity(grandchild) is not None
    await child.stop(5)
    assert until(lambda: identity(grandchild) is None)


async def test_what_a_killed_one_left_in_shared_memory_goes_with_the_next_start_and_with_a_stop(
    tmp_path: Path,
) -> None:
    one = Child("sharing", tmp_path, f"radrag-test-{uuid.uuid4()}-")
    left, own = (SHARED_MEMORY / f"{one.shared}{name}" for name in ("left", "own"))
    left.write_text("a question")
    start(one, f"open({str(own)!r}, 'w').close(); print('made', flush=True); " + SLEEPER)
    assert not left.exists()
    assert until(lambda: one.last_lines() == ["made"])
    assert own.exists()
    await one.stop(0)
    assert not own.exists()


async def test_a_pid_that_was_given_to_another_process_is_not_ours(child: Child) -> None:
    """The pid file names this very test: stopping must not touch it."""
    child.pid_file.parent.mkdir(parents=True)
    child.pid_file.write_text(json.dumps({"pid": os.getpid(), "started": 1}))
    assert child.running() is None
    assert not await child.stop(1)


@pytest.mark.parametrize("text", ["", "4711", "{}", '{"pid": 1}', "[]"])
async def test_a_broken_pid_file_means_not_running(child: Child, text: str) -> None:
    child.pid_file.parent.mkdir(parents=True)
    child.pid_file.write_text(text)
    assert child.running() is None


async def test_one_that_died_is_not_running(child: Child) -> None:
    os.kill(start(child, SLEEPER), signal.SIGKILL)
    assert until(lambda: child.running() is None)


async def test_the_log_of_the_start_before_is_kept_and_not_shown_as_this_ones(child: Child) -> None:
    start(child, "print('first', flush=True)")
    assert until(lambda: child.last_lines() == ["first"])
    start(child, "print('second', flush=True)")
    assert until(lambda: child.last_lines() == ["second"])
    assert child.log.with_suffix(".previous.log").read_text() == "first\n"


async def test_the_end_of_the_log_is_preceded_by_earlier_failures(child: Child) -> None:
    """Model servers say why at length before they say that they end."""
    child.log.parent.mkdir(parents=True)
    child.log.write_text("starting\nError: no such model\n" + "bye\n" * 30)
    assert child.last_lines(3) == ["Error: no such model", "bye", "bye", "bye"]


LIMIT = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[0], flush=True); "


def test_a_child_leaves_no_core_file(child: Child) -> None:
    """One would hold questions and answers: the limit is 0 whatever it was here."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    start(child, LIMIT + SLEEPER)
    assert until(lambda: child.log.read_text() == "0\n")
