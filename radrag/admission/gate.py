"""The gate before one method: so many calls run, so many wait in line, one more is refused at once.

A call that would have to wait longer than its caller does is refused too, while its caller can ask elsewhere.
How long a wait will be is told from how long calls took lately. A call that need not wait is never refused:
short of time, an answer may still come without some of its parts.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

from radrag.admission.rates import refused

NEWEST = 0.1  # weight of the newest call in the mean
LEAST_HINT, MOST_HINT = 0.1, 30.0  # seconds


@dataclass
class Gate:
    """`running` calls at once, `waiting` in line."""

    running: int
    waiting: int = 0
    clock: Callable[[], float] = monotonic
    mean: float = 0.0  # seconds a call takes
    _inside: int = 0
    _line: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    @asynccontextmanager
    async def passed(self, left: float | None) -> AsyncIterator[None]:
        """Held while a call runs; `left` is how many seconds its caller waits. Raises Overloaded."""
        await self._enter(left)
        began = self.clock()
        try:
            yield
            self._learn(self.clock() - began)
        finally:
            self._leave()

    async def _enter(self, left: float | None) -> None:
        if self._inside < self.running and not self._line:
            self._inside += 1
            return
        if len(self._line) >= self.waiting:
            hint = _hint(self._wait(len(self._line)))
            raise refused("in_flight", f"more than {self.running} calls at once", hint)
        wait = self._wait(len(self._line) + 1)
        if left is not None and wait + self.mean > left:
            raise refused("deadline", "the line is longer than the deadline", _hint(wait))
        await self._stand_in_line()

    async def _stand_in_line(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()  # its turn had come
            else:
                self._line.remove(place)
            raise

    def _leave(self) -> None:
        """Gives the place to the first in line."""
        while self._line:
            if not (first := self._line.popleft()).done():
                first.set_result(None)
                return
        self._inside -= 1

    def _learn(self, seconds: float) -> None:
        self.mean = seconds if not self.mean else (1 - NEWEST) * self.mean + NEWEST * seconds

    def _wait(self, places: int) -> float:
        return self.mean * max(places, 1) / self.running


def _hint(wait: float) -> float:
    return min(max(wait, LEAST_HINT), MOST_HINT)
