"""The queueing simulation: known results of theory, and a real Triton's 95th percentile at three loads."""

import asyncio
import os
import shutil
import time
import urllib.request
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.queueing import Stage, arrivals, latencies, needed, percentile, through
from cli.process import Child
from cli.triton_server import TritonServer
from radrag.telemetry.reading import samples
from radrag.triton import ModelServer
from tests.integration.conftest import MODELS, lent
from tests.ports import free_grpc_port
from tests.results import kept

# An execution of the model, however many requests share it; long beside what a busy machine adds.
SECONDS = 0.15
CALLS = 200  # of each load; the more, the less chance in it


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


@pytest.mark.skipif(not os.environ.get("RADRAG_TEST_RESULTS"), reason="timed: make bench-scaling runs it")
async def test_a_real_tritons_95th_percentile_is_foreseen_at_three_loads(tmp_path: Path) -> None:
    """One request at a time; the same arrivals for the simulation and for the server, within a fifth.

    The simulation knows how long the idle model takes, and nothing of the run it foresees.
    """
    repository = tmp_path / "models"
    shutil.copytree(MODELS / "null_embedder", repository / "null_embedder")
    config = repository / "null_embedder" / "config.pbtxt"
    slow = config.read_text().replace("max_batch_size: 32", "max_batch_size: 1")
    config.write_text(slow.replace('string_value: "2"', f'string_value: "{SECONDS * 1000:.0f}"'))
    server = TritonServer(Child("t", tmp_path), ("null_embedder",), free_grpc_port(), repository=repository)
    async with lent(server):
        role = ModelServer(server.grpc, "embedder")
        await _once(role, 0.0)  # a model's series begin with its first call
        figures, off = dict[str, object](), dict[float, float]()
        for busy in (0.3, 0.5, 0.7):
            alone, computing = await _timed(server, role, [0.0], 7)
            times = arrivals(busy / computing, CALLS, 20261201)
            found, _ = await _timed(server, role, times, 1)
            # What a call spends outside of the model keeps nobody waiting: it is added, not queued for.
            outside = percentile(alone, 0.5) - computing
            foreseen = percentile(latencies([Stage("embedder", 1, computing)], times), 0.95) + outside
            measured = percentile(found, 0.95)
            milliseconds = {"p95": round(measured * 1000), "foreseen": round(foreseen * 1000)}
            figures[f"busy {busy}"] = milliseconds | {"ratio": round(measured / foreseen, 3)}
            off[busy] = abs(measured - foreseen) / measured
        await role.close()
    kept("queueing", figures)
    assert max(off.values()) <= 0.2, off


async def _timed(
    server: TritonServer, role: ModelServer, times: list[float], repeats: int
) -> tuple[list[float], float]:
    """Each call's seconds, and the model's mean. Open loop: a call leaves at its time, come what may."""
    before, found = _computed(server), list[float]()
    for _ in range(repeats):
        found += await asyncio.gather(*(_once(role, at) for at in times))
    after = _computed(server)
    return found, (after[0] - before[0]) / (after[1] - before[1])


def _computed(server: TritonServer) -> tuple[float, float]:
    """Seconds the model has computed so far, and how often, as Triton itself counts them."""
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as page:
        found = {one.name: one.value for one in samples(page.read().decode()) if one.labels.get("model")}
    return found["nv_inference_compute_infer_duration_us_total"] / 1e6, found["nv_inference_exec_count_total"]


async def _once(role: ModelServer, at: float) -> float:
    await asyncio.sleep(at)
    began = time.perf_counter()
    await role.embed("null_embedder", "text", "query")
    return time.perf_counter() - began
