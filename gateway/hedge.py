"""Asks a second time when the first reply is late, and takes what comes first: for calls that cost little."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def hedged(after: float, step: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The step, asked again after so many seconds; 0: never. The slower one is cancelled.

    A failure before then is a failure: this is no retry.
    """
    if after <= 0:
        return step

    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        asked = [asyncio.ensure_future(step(*args, **kwargs))]
        try:
            done, _ = await asyncio.wait(asked, timeout=after)
            if not done:
                asked.append(asyncio.ensure_future(step(*args, **kwargs)))
            return await _first(asked)
        finally:
            for one in asked:
                one.cancel()

    return call


async def _first(asked: Sequence["asyncio.Future[T]"]) -> T:
    """The first that is well; the first one's failure when none is."""
    waiting = set(asked)
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            if not one.cancelled() and one.exception() is None:
                return one.result()
    return asked[0].result()
