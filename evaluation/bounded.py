"""Runs one async function over many items, a few at a time, and says how far it is."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]
"""Told what is being done, how many items are done and how many there are."""


def silent(stage: str, done: int, total: int) -> None:
    """The progress of a run that nobody watches."""


async def each(
    function: Callable[[Item], Awaitable[Result]],
    items: Sequence[Item],
    at_once: int,
    stage: str = "",
    progress: Progress = silent,
) -> list[Result]:
    """The results in the items' order, at most `at_once` calls running.

    The first failure cancels the calls that are running and is raised as it is.
    """
    gate, done = asyncio.Semaphore(at_once), 0

    async def one(item: Item) -> Result:
        nonlocal done
        async with gate:
            result = await function(item)
        done += 1
        progress(stage, done, len(items))
        return result

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
