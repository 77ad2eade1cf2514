"""Gives a step its part of the caller's time, so that one that hangs leaves time to answer without it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from radrag import call
from radrag.errors import DeadlineExceeded

T = TypeVar("T")

# What the last frame needs to reach the caller: seconds, and at most this part of the time left.
MARGIN_SECONDS, MARGIN_PART = 0.2, 0.1


@dataclass(frozen=True)
class Seconds:
    """The longest each step may take, in seconds, however long the caller would wait."""

    embed: float = 5.0
    search: float = 5.0
    rerank: float = 20.0
    generate: float = 120.0


async def within(cap: float, part: float, step: Callable[[], Awaitable[T]]) -> T:
    """Runs `step` for at most `cap` seconds and `part` (0..1) of the caller's time left.

    The step sees the shorter deadline as the call's own and so hands it on. Raises DeadlineExceeded.
    """
    return await _until(time.monotonic() + min(cap, part * call.time_left(float("inf"))), step)


async def timely(cap: float, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The pieces until the caller's deadline less a margin, or until `cap` seconds; then DeadlineExceeded.

    Only the first step sees the shorter deadline as the call's own: what is asked for is asked there.
    """
    left = call.time_left(float("inf"))
    end = time.monotonic() + min(cap, left - min(MARGIN_SECONDS, MARGIN_PART * left))
    async with aclosing(pieces):
        alarm = Alarm(end)
        try:
            step: Callable[[], Awaitable[T]] = partial(_until, end, lambda: anext(pieces))
            while True:
                try:
                    piece = await step()
                except StopAsyncIteration:
                    return
                yield piece
                step = partial(alarm.wait, pieces)
        finally:
            alarm.stop()


class Alarm:
    """A timeout that is entered again and again; between the waits its task is left alone.

    One timer for all of a stream: a timeout of its own for each of 500 words costs more than the words.
    """

    def __init__(self, end: float) -> None:
        """`end` is a time.monotonic instant."""
        self._waiting: asyncio.Task[object] | None = None
        self._rang = False
        self._timer = asyncio.get_running_loop().call_later(end - time.monotonic(), self._ring)

    def stop(self) -> None:
        """No longer rings."""
        self._timer.cancel()

    async def wait(self, pieces: AsyncGenerator[T, None]) -> T:
        """The next piece. Raises DeadlineExceeded, StopAsyncIteration. A cancelled task stays cancelled."""
        if self._rang:
            raise DeadlineExceeded("a step did not end in time")
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        self._waiting = task
        try:
            return await anext(pieces)
        except asyncio.CancelledError:
            if self._rang and task and task.cancelling() - 1 <= before:
                raise DeadlineExceeded("a step did not end in time") from None
            raise
        finally:
            self._waiting = None
            if self._rang and task:
                task.uncancel()

    def _ring(self) -> None:
        self._rang = True
        if self._waiting:
            self._waiting.cancel()


async def _until(end: float, step: Callable[[], Awaitable[T]]) -> T:
    try:
        with call.running(call.current().until(end)):
            async with asyncio.timeout(end - time.monotonic()):
                return await step()
    except TimeoutError:
        raise DeadlineExceeded("a step did not end in time") from None
