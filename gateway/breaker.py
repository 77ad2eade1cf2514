"""Leaves a model server alone for a while after it failed some calls in a row.

Callers get their degraded answer at once, instead of each waiting for the same failure, and the server gets
time to come back.

After the while one call tries it; the others go on without it until that one has come back well.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import ParamSpec, TypeVar

from radrag import call
from radrag.errors import DeadlineExceeded, InvalidArgument, ModelUnavailable, Overloaded, RadragError

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)

SLOW = 2.0  # seconds: a deadline shorter than that says nothing about the server
EARLY = 0.05  # seconds: a timer may end a call so long before its deadline


@dataclass
class Breaker:
    """The breaker of one role: opens for `seconds` after `failures` in a row; 0 failures: never."""

    role: str
    failures: int = 5
    seconds: float = 5.0
    clock: Callable[[], float] = monotonic
    _failed: int = 0
    _open_until: float = float("-inf")
    _trying: bool = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Around a call. Raises ModelUnavailable at once while open, and what the call raises.

        A call that used up its time counts as failed; one whose caller left says nothing about the server.
        """
        tries, began, deadline = self._enter(), self.clock(), call.current().deadline
        try:
            yield
        except (ModelUnavailable, DeadlineExceeded, asyncio.CancelledError) as error:
            if self._failing(error, began, deadline):
                self._fail()
            raise
        except (Overloaded, InvalidArgument, GeneratorExit):  # it answers, or was answering
            self._succeed()
            raise
        except RadragError:
            raise
        else:
            self._succeed()
        finally:
            self._trying = self._trying and not tries

    def _failing(self, error: BaseException, began: float, deadline: float | None) -> bool:
        """Whether the server failed, or used up our time. A caller may also leave before the deadline."""
        if isinstance(error, ModelUnavailable):
            return True
        on_time = deadline is None or self.clock() < deadline - EARLY
        left = isinstance(error, asyncio.CancelledError) and on_time
        return not left and self.clock() - began >= SLOW

    def _enter(self) -> bool:
        """Whether this call is the one that tries a server that was left alone."""
        if not self.failures or self._failed < self.failures:
            return False
        if self.clock() < self._open_until or self._trying:
            raise ModelUnavailable(self.role)
        self._trying = True
        return True

    def _fail(self) -> None:
        self._failed += 1
        if self.failures and self._failed >= self.failures:
            self._open_until = self.clock() + self.seconds
            if self._failed == self.failures:
                log.warning("the %s failed %d times in a row: left alone", self.role, self._failed)

    def _succeed(self) -> None:
        if self.failures and self._failed >= self.failures:
            log.warning("the %s answers again", self.role)
        self._failed = 0


def guarded(breaker: Breaker, step: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The step behind its breaker."""

    async def passed(*args: P.args, **kwargs: P.kwargs) -> T:
        with breaker.passing():
            return await step(*args, **kwargs)

    return passed


def guarded_stream(
    breaker: Breaker, step: Callable[P, AsyncGenerator[T, None]]
) -> Callable[P, AsyncGenerator[T, None]]:
    """The same for one that yields."""

    async def stream(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        with breaker.passing():
            async with aclosing(step(*args, **kwargs)) as pieces:
                async for piece in pieces:
                    yield piece

    return stream
