"""Many calls, a few at a time."""

import asyncio

import pytest

from evaluation.bounded import each


async def test_results_keep_the_order_and_the_bound() -> None:
    running, most, seen = 0, 0, []

    async def double(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (5 - number))
        running -= 1
        return 2 * number

    doubled = await each(double, range(5), 2, "doubling", lambda *progress: seen.append(progress))
    assert doubled == [0, 2, 4, 6, 8]
    assert most == 2
    assert seen[-1] == ("doubling", 5, 5)


async def test_the_first_failure_stops_the_rest() -> None:
    started = []

    async def fail(number: int) -> int:
        started.append(number)
        await asyncio.sleep(0)
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        await each(fail, range(100), 1)
    assert len(started) < 100
