"""All or nothing, with real processes that stand in for the services."""

import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli import supervision
from cli.ports import Port
from cli.process import Child
from cli.supervision import Service
from radrag.errors import FailedPrecondition, Unavailable
from tests.cli import screens

# A service that is ready when its file is there.
READY = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
NEVER = "import time; time.sleep(600)"
DIES = "import sys; print('no such model'); sys.exit(3)"


def service(name: str, folder: Path, program: str, ports: Sequence[Port] = ()) -> Service:
    mark = folder / f"{name}.ready"

    async def missing() -> Sequence[str]:
        return () if mark.exists() else (f"{name}'s model",)

    command = (sys.executable, "-c", program, str(mark))
    return Service(Child(name, folder), command, os.environ, folder, ports, missing)


def running(services: Sequence[Service]) -> list[str]:
    return [one.child.name for one in services if one.child.running()]


async def test_up_returns_when_all_are_ready_and_down_stops_them(tmp_path: Path) -> None:
    services = [service(name, tmp_path, READY) for name in ("a", "b", "c")]
    await supervision.up(services, screens.pipe(), 20)
    assert running(services) == ["a", "b", "c"]
    assert await supervision.down([one.child for one in services]) == ["a", "b", "c"]
    assert running(services) == []


async def test_what_is_waited_for_is_said(tmp_path: Path) -> None:
    pipe = screens.pipe()
    with pytest.raises(Unavailable, match="not ready in time: b's model"):
        await supervision.up([service("a", tmp_path, READY), service("b", tmp_path, NEVER)], pipe, 2)
    assert screens.err(pipe).startswith("waiting for ")
    assert "b's model" in screens.err(pipe)


async def test_when_one_dies_its_log_is_shown_and_the_others_are_stopped(tmp_path: Path) -> None:
    services = [service("a", tmp_path, READY), service("b", tmp_path, DIES)]
    pipe, began = screens.pipe(), time.monotonic()
    with pytest.raises(Unavailable, match="ended while starting: b"):
        await supervision.up(services, pipe, 60)
    assert time.monotonic() - began < 20
    assert "no such model" in screens.err(pipe)
    assert running(services) == []


async def test_a_program_that_is_not_there_is_a_plain_refusal(tmp_path: Path) -> None:
    good, bad = service("a", tmp_path, READY), service("b", tmp_path, READY)
    bad = Service(bad.child, ("/no/such/server",), os.environ, tmp_path, (), bad.missing)
    with pytest.raises(
        FailedPrecondition, match="cannot start b: No such file or directory: /no/such/server"
    ):
        await supervision.up([good, bad], screens.pipe(), 5)
    assert running([good]) == []


async def test_a_second_up_refuses_and_leaves_the_first_alone(tmp_path: Path) -> None:
    services = [service("a", tmp_path, READY)]
    await supervision.up(services, screens.pipe(), 20)
    before = services[0].child.running()
    with pytest.raises(FailedPrecondition, match="already up: a"):
        await supervision.up(services, screens.pipe(), 20)
    assert services[0].child.running() == before
    await supervision.down([services[0].child])


async def test_up_starts_again_what_has_ended_and_leaves_the_others_alone(tmp_path: Path) -> None:
    services, pipe = [service(name, tmp_path, READY) for name in ("a", "b")], screens.pipe()
    await supervision.up(services, screens.pipe(), 20)
    kept = services[0].child.running()
    await services[1].child.stop(20)
    await supervision.up(services, pipe, 20)
    assert running(services) == ["a", "b"]
    assert services[0].child.running() == kept
    assert "was down: b" in screens.err(pipe)
    await supervision.down([one.child for one in services])


async def test_what_ran_before_runs_on_when_the_rest_does_not_start(tmp_path: Path) -> None:
    good, bad = service("a", tmp_path, READY), service("b", tmp_path, DIES)
    await supervision.up([good], screens.pipe(), 20)
    with pytest.raises(Unavailable, match="ended while starting: b"):
        await supervision.up([good, bad], screens.pipe(), 20)
    assert running([good, bad]) == ["a"]
    await supervision.down([good.child])


async def test_every_taken_port_is_named_with_its_holder_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = Port("127.0.0.1", server.getsockname()[1], "gateway health")
        services = [service("a", tmp_path, READY), service("b", tmp_path, READY, [port])]
        wanted = rf"port {port.number} \(gateway health\) is taken by pid {os.getpid()}"
        with pytest.raises(FailedPrecondition, match=wanted):
            await supervision.up(services, screens.pipe(), 5)
    assert running(services) == []
    assert not (tmp_path / "log").exists()
