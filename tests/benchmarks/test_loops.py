"""The closed loop asks as often as it says, never twice the same, and reads its processes' time."""

import asyncio
import mmap
import os

from benchmarks.loops import loop, memory


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
