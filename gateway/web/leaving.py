"""Stops a call whose caller has gone: HTTP servers tell of it only those who ask."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

T = TypeVar("T")


async def while_there(request: Request, answer: Awaitable[T]) -> T:
    """The answer; cancelled when the caller leaves first, whom then nothing reaches any more."""
    answering, leaving = asyncio.ensure_future(answer), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        raise HTTPException(400, "the caller has gone")
    finally:
        for task in (answering, leaving):
            task.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
