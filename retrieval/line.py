"""Gathers what is asked in one turn of the event loop and asks it in one go: a thread is entered once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Line(Generic[Q, A]):
    """Hands on what was asked together; `answer` answers each, in their order, or fails for all."""

    def __init__(self, answer: Callable[[Sequence[Q]], Awaitable[Sequence[A]]]) -> None:
        self._answer = answer
        self._asked: list[tuple[Q, asyncio.Future[A]]] = []
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, question: Q) -> A:
        """One answer. Raises what `answer` raises. Who is cancelled takes nobody with it."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[A] = loop.create_future()
        self._asked.append((question, mine))
        if len(self._asked) == 1:
            loop.call_soon(self._go)
        return await mine

    def _go(self) -> None:
        asked, self._asked = self._asked, []
        task = asyncio.ensure_future(self._answered(asked))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answered(self, asked: Sequence[tuple[Q, "asyncio.Future[A]"]]) -> None:
        waiting = [(question, mine) for question, mine in asked if not mine.done()]
        if not waiting:
            return
        try:
            answers = await self._answer([question for question, _ in waiting])
        except Exception as error:  # noqa: BLE001  whoever asked gets it
            for _, mine in waiting:
                if not mine.done():
                    mine.set_exception(error)
            return
        for (_, mine), one in zip(waiting, answers, strict=True):
            if not mine.done():
                mine.set_result(one)
