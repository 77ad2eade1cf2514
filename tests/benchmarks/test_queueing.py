"""The queueing simulation: known results of theory, and a real Triton's 95th percentile at three loads."""

import asyncio
import math
import shutil
import time
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.queueing import Stage, arrivals, latencies, needed, percentile, through
from cli.process import Child
from cli.triton_server import TritonServer
from radrag.triton import ModelServer
from tests.conftest import free_grpc_port
from tests.integration.conftest import MODELS, lent

SECONDS = (
    0.15  # an execution of the model, however many requests share it; long beside what a busy machine adds
)


def test_an_idle_server_takes_its_own_time_and_no_more() -> None:
    assert latencies([Stage("a", 1, 0.2), Stage("b", 1, 0.1, 0.05)], [0.0, 10.0]) == pytest.approx(
        [0.35, 0.35]
    )


def test_requests_wait_in_order_and_share_batches() -> None:
    assert through(Stage("a", 1, 1.0), [0.0, 0.1, 0.2]) == [1.0, 2.0, 3.0]
    assert through(Stage("a", 1, 1.0, most=2), [0.0, 0.1, 0.2, 0.3]) == [1.0, 2.0, 2.0, 3.0]
    assert through(Stage("a", 2, 1.0), [0.0, 0.1, 0.2]) == [1.0, 1.1, 2.0]


@pytest.mark.parametrize("busy", [0.3, 0.6, 0.8])
def test_the_mean_wait_at_one_server_is_pollaczek_khinchines(busy: float) -> None:
    """M/D/1: waiting takes busy / (2 (1 - busy)) service times."""
    found = fmean(latencies([Stage("a", 1, 1.0)], arrivals(busy, 100_000, 1)))
    assert found == pytest.approx(1 + busy / (2 * (1 - busy)), rel=0.05)


@pytest.mark.parametrize("rate", [1, 50, 1000])
def test_the_servers_it_asks_for_keep_the_limit(rate: float) -> None:
    grown = needed([Stage("a", 1, 0.02, 0.005, 16), Stage("b", 1, 0.1)], rate, 0.6)
    assert all(rate / one.capacity <= 0.7 for one in grown)
    assert percentile(latencies(grown, arrivals(rate, 4000, 7)), 0.95) < 0.7


def test_a_limit_below_the_stages_own_time_is_refused() -> None:
    with pytest.raises(ValueError, match=r"limit: the stages alone take 0\.30 s"):
        needed([Stage("a", 1, 0.3)], 1, 0.2)


async def test_a_real_tritons_95th_percentile_is_foreseen_at_three_loads(tmp_path: Path) -> None:
    """One request at a time; the same arrivals for the simulation and for the server, within a fifth."""
    repository = tmp_path / "models"
    shutil.copytree(MODELS / "null_embedder", repository / "null_embedder")
    config = repository / "null_embedder" / "config.pbtxt"
    slow = config.read_text().replace("max_batch_size: 32", "max_batch_size: 1")
    config.write_text(slow.replace('string_value: "2"', f'string_value: "{SECONDS * 1000:.0f}"'))
    server = TritonServer(Child("t", tmp_path), ("null_embedder",), free_grpc_port(), repository=repository)
    async with lent(server):
        role = ModelServer(server.grpc, "embedder")
        for busy in (0.3, 0.5, 0.7):
            alone = percentile([await _once(role, 0.0) for _ in range(7)], 0.5)
            stage = Stage("embedder", 1, alone)
            times = arrivals(busy * stage.capacity, 80, 20261201)
            measured = percentile(await _load(role, times), 0.95)
            foreseen = percentile(latencies([stage], times), 0.95)
            print(f"busy {busy}: p95 {measured * 1000:.0f} ms, foreseen {foreseen * 1000:.0f} ms")  # noqa: T201
            assert math.isclose(measured, foreseen, rel_tol=0.2), busy
        await role.close()


async def _load(role: ModelServer, times: list[float]) -> list[float]:
    """Open loop: a request leaves at its time, whatever became of those before it."""
    return await asyncio.gather(*(_once(role, at) for at in times))


async def _once(role: ModelServer, at: float) -> float:
    await asyncio.sleep(at)
    began = time.perf_counter()
    await role.embed("null_embedder", "text", "query")
    return time.perf_counter() - began
