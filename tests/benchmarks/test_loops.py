"""The closed loop asks as often as it says, never twice the same, and reads its processes' time; and the rows
of the path's benchmark are made of such loops.
"""

import asyncio
import mmap
import os
import subprocess
import sys

from benchmarks import path_rows, reranking
from benchmarks.loops import Load, loop, memory, p95, spent, spread


async def test_every_caller_asks_again_and_no_number_comes_twice() -> None:
    asked: list[int] = []
    running, most = 0, 0

    async def ask(number: int) -> None:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        asked.append(number)
        await asyncio.sleep(0.001)
        running -= 1

    load = await loop(ask, 4, 0.02, least=5)
    assert most == 4
    assert len(set(asked)) == len(asked)
    counted = [number for number in asked if number >= 0]
    assert len(load.times) == len(counted) >= 20
    assert all(time >= 0.001 for time in load.times)
    assert load.rate <= 4 / 0.001


async def test_time_of_processes_is_counted_while_the_loop_runs() -> None:
    async def work(number: int) -> None:
        sum(range(200_000))

    load = await loop(work, 1, 0.3, {"own": os.getpid()})
    assert 0 < load.cpu["own"] <= load.seconds + 0.05
    figures = load.figures()
    assert figures["calls"] == len(load.times)
    assert figures["p50_ms"] <= figures["p95_ms"]  # type: ignore[operator]


def test_memory_is_told_apart() -> None:
    """Pages of their own: what is allocated may come from what earlier tests gave back."""
    before = memory(os.getpid())
    with mmap.mmap(-1, 20_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * len(held))
        after = memory(os.getpid())
    assert after["own_mb"] - before["own_mb"] > 15
    assert after["peak_mb"] >= after["own_mb"]


async def test_replies_are_heard_that_count_and_no_other() -> None:
    heard: list[int] = []

    async def ask(number: int) -> int:
        return number

    load = await loop(ask, 2, 0, least=3, hear=heard.append)
    assert sorted(heard) == list(range(len(load.times))) == list(range(6))


def test_a_negative_pid_is_a_whole_group() -> None:
    """The leader only waits; its child works, says so, and waits too."""
    work = "sum(range(3_000_000)); print('done', flush=True); input()"
    leader = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"
    line = (sys.executable, "-c", leader)
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        process.stdout.readline()
        told = spent({"alone": process.pid, "group": -process.pid})
        process.communicate(b"\n")
    assert told["group"] > told["alone"] + 0.02
    assert spent({"group": -process.pid}) == {"group": 0.0}


def test_spread_and_percentile_of_few() -> None:
    assert spread([1.0, 3.0, 1.23456]) == {"median": 1.235, "least": 1.0, "most": 3.0}
    assert p95([0.5]) == 0.5


def test_ratios_are_those_of_one_round() -> None:
    def rounds(*p50: float) -> list[Load]:
        return [Load([one] * 4, 4 * one, {"gateway": one, "path": one / 2}) for one in p50]

    loads = {
        ("search", 1): rounds(0.010, 0.020, 0.012),
        ("direct", 1): rounds(0.008, 0.016, 0.008),
        ("two hops", 1): rounds(0.002, 0.002, 0.002),
        ("store, direct", 1): rounds(0.001, 0.001, 0.001),
    }
    row = path_rows.row(loads, "search", 1)
    assert row["over_direct"] == {"median": 1.25, "least": 1.25, "most": 1.5}
    assert row["hops_beyond_direct"] == {"median": 2.0, "least": 1.0, "most": 2.0}
    assert row["p50_ms"] == 12.0


def test_our_share_is_what_neither_the_models_nor_the_legs_of_the_same_round_took() -> None:
    def load(**seconds: float) -> Load:
        return Load([1.0] * 2, 1.0, {name: 2 * value for name, value in seconds.items()})

    spent = {"gateway": 0.2, "least": 0.1, "retrieval": 0.4, "triton": 1.4}
    loads = {
        ("search", 1): [load(**spent), load(**{**spent, "triton": 3.4})],
        ("least search", 1): [load(**spent), load(**spent)],
        ("store, direct", 1): [load(caller=0.3, gateway=9.0), load(caller=0.2)],
        ("direct", 1): [load(), load()],
        ("two hops", 1): [load(), load()],
    }
    shares = path_rows.row(loads, "search", 1)["ours_share"]
    assert shares == {"median": 0.125, "least": 0.1, "most": 0.15}
    assert path_rows.row(loads, "least search", 1)["ours_share"] == {
        "median": 0.132, "least": 0.105, "most": 0.158,
    }  # fmt: skip
    assert "ours_share" not in path_rows.row(loads, "direct", 1)


def test_a_line_tells_the_processes_of_the_path_and_no_other() -> None:
    line = path_rows.said("search", 4, [Load([0.002] * 4, 1.0, {"gateway": 0.004, "triton": 1, "caller": 1})])
    assert line.split() == ["search", "@4", "p50", "2.000", "ms", "4.0/s", "CPU", "ms:", "gateway", "1.0"]


def test_what_reranking_costs_is_told_over_the_encoder_of_the_same_round() -> None:
    assert reranking.figures([(2.2, 2.0), (3.0, 2.0), (2.4, 2.4)]) == {
        "rerank_cpu_s": 2.4, "encoder_cpu_s": 2.0, "ratio": {"median": 1.1, "least": 1.0, "most": 1.5},
    }  # fmt: skip
