"""A stream ends at its deadline, wherever it hangs; leaving, cancelling and failing stay what they were."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from gateway.deadlines import Alarm, timely
from radrag import call
from radrag.call import Call
from radrag.errors import DeadlineExceeded


async def pieces(*pauses: float, closed: list[str] | None = None) -> AsyncGenerator[float, None]:
    """A piece after each pause."""
    try:
        for pause in pauses:
            await asyncio.sleep(pause)
            yield pause
    finally:
        if closed is not None:
            closed.append("closed")


def cancellations() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task else -1


async def take(stream: AsyncGenerator[float, None], came: list[float]) -> None:
    while (piece := await anext(stream, None)) is not None:
        came.append(piece)


async def read(cap: float, *pauses: float) -> list[float]:
    return [piece async for piece in timely(cap, pieces(*pauses))]


async def test_pieces_in_time_come_whole() -> None:
    assert await read(1.0, *[0.0] * 50) == [0.0] * 50
    assert await read(1.0) == []


@pytest.mark.parametrize("pauses", [(9.0,), (0.0, 9.0), (0.0, 0.0, 0.0, 9.0)])
async def test_one_that_hangs_is_ended_at_the_cap_wherever_it_hangs(pauses: tuple[float, ...]) -> None:
    closed: list[str] = []
    began, came = time.monotonic(), list[float]()
    stream = timely(0.05, pieces(*pauses, closed=closed))
    with pytest.raises(DeadlineExceeded):
        await take(stream, came)
    assert (came, closed) == ([0.0] * (len(pauses) - 1), ["closed"])
    assert time.monotonic() - began < 2
    assert cancellations() == 0
    await asyncio.sleep(0)  # no cancellation is left behind


async def test_a_deadline_that_passes_between_two_pieces_stops_the_next_and_not_the_reader() -> None:
    stream = timely(0.03, pieces(0.0, 0.0, 0.0))
    assert await anext(stream) == 0.0
    await asyncio.sleep(0.08)  # the reader's own time: nobody may cancel it there
    with pytest.raises(DeadlineExceeded):
        await anext(stream)


async def test_the_callers_deadline_counts_and_the_first_step_sees_the_shorter_one() -> None:
    seen: list[float | None] = []

    async def asking() -> AsyncGenerator[int, None]:
        seen.append(call.current().deadline)
        yield 1
        await asyncio.sleep(9)

    with call.running(Call(deadline=time.monotonic() + 0.1)), pytest.raises(DeadlineExceeded):
        async for _ in timely(60.0, asking()):
            pass
    assert seen[0] is not None
    assert seen[0] < time.monotonic() + 0.1


async def test_a_cancelled_reader_is_cancelled_and_not_told_that_time_is_up() -> None:
    task = asyncio.create_task(read(5.0, 0.0, 9.0))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_failure_and_an_early_leave_pass_through() -> None:
    async def failing() -> AsyncGenerator[int, None]:
        yield 1
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        assert [piece async for piece in timely(1.0, failing())]
    closed: list[str] = []
    async with aclosing(timely(1.0, pieces(0.0, 0.0, closed=closed))) as stream:
        await anext(stream)
    assert closed == ["closed"]


async def test_one_who_swallows_the_end_leaves_no_cancellation_behind() -> None:
    async def stubborn() -> AsyncGenerator[int, None]:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            yield 7

    alarm, stream = Alarm(time.monotonic() + 0.02), stubborn()
    assert await alarm.wait(stream) == 7
    assert cancellations() == 0
    with pytest.raises(DeadlineExceeded):
        await alarm.wait(stream)
    await stream.aclose()
