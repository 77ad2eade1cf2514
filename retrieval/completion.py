"""Work that must not be left half-way: a cancelled caller waits for it to end before it goes."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(work: Awaitable[T]) -> T:
    """Awaits `work`. When cancelled meanwhile, lets it end first: a thread that writes cannot be stopped."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(asyncio.wait([task]))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # seen; the caller has gone
        raise cancelled
    return task.result()
