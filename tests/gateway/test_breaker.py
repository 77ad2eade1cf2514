"""A model server that fails is left alone and tried by one call; a late reply is asked for again."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import pytest

from gateway.breaker import SLOW, Breaker, guarded, guarded_stream
from gateway.deadlines import timely, within
from gateway.hedge import hedged
from radrag import call
from radrag.call import Call
from radrag.errors import DeadlineExceeded, InvalidArgument, ModelUnavailable, Overloaded


class Server:
    """Counts its calls; raises `failure` while there is one, after `takes` seconds of the test's clock."""

    def __init__(self) -> None:
        self.calls, self.now, self.takes = 0, 0.0, 0.0
        self.failure: BaseException | None = ModelUnavailable("reranker")
        self.breaker = Breaker("reranker", 3, 5.0, lambda: self.now)

    async def step(self) -> str:
        self.calls += 1
        self.now += self.takes
        if self.failure:
            raise self.failure
        return "well"

    async def asked(self, times: int = 1) -> int:
        """Asks through the breaker; how many calls came to the server."""
        before = self.calls
        for _ in range(times):
            with suppress(ModelUnavailable, DeadlineExceeded, Overloaded, InvalidArgument):
                await guarded(self.breaker, self.step)()
        return self.calls - before


async def test_after_failures_in_a_row_it_is_left_alone_then_tried_once_then_used_again() -> None:
    server = Server()
    assert await server.asked(10) == 3
    server.now += 5.1
    assert await server.asked(10) == 1  # the try failed: left alone again
    server.now += 5.1
    server.failure = None
    assert await server.asked(10) == 10


async def test_one_good_call_between_failures_keeps_it_in_use() -> None:
    server = Server()
    for _ in range(5):
        assert await server.asked(2) == 2
        server.failure, failure = None, server.failure
        await server.asked()
        server.failure = failure


@pytest.mark.parametrize("failure", [Overloaded("full"), InvalidArgument("reranker", "refused its input")])
async def test_a_server_that_refuses_is_there(failure: Exception) -> None:
    server = Server()
    server.failure = failure
    assert await server.asked(10) == 10


async def test_a_short_deadline_says_nothing_and_a_long_one_counts() -> None:
    server = Server()
    server.failure = DeadlineExceeded("late")
    server.takes = SLOW / 2
    assert await server.asked(10) == 10
    server.takes = SLOW
    assert await server.asked(10) == 3


async def test_while_one_call_tries_the_others_do_not_wait_for_it() -> None:
    server, end = Server(), asyncio.Event()
    await server.asked(3)
    server.now += 5.1

    async def slow() -> str:
        await end.wait()
        return "well"

    trying = asyncio.ensure_future(guarded(server.breaker, slow)())
    await asyncio.sleep(0)
    assert await server.asked(5) == 0
    end.set()
    assert await trying == "well"
    server.failure = None
    assert await server.asked(5) == 5


async def test_a_try_that_is_cancelled_leaves_the_next_one_to_try() -> None:
    server = Server()
    await server.asked(3)
    server.now += 5.1
    trying = asyncio.ensure_future(guarded(server.breaker, asyncio.Event().wait)())
    await asyncio.sleep(0)
    trying.cancel()
    await asyncio.gather(trying, return_exceptions=True)
    assert await server.asked(5) == 1


async def test_a_stream_that_its_reader_leaves_is_no_failure() -> None:
    breaker = Breaker("generator", 1)

    async def words() -> AsyncGenerator[str, None]:
        yield "one"
        yield "two"

    for _ in range(3):
        async with aclosing(guarded_stream(breaker, words)()) as pieces:
            assert await anext(pieces) == "one"


@pytest.mark.parametrize(("deadline", "failed"), [(None, False), (100.0, False), (10.0 + SLOW, True)])
async def test_callers_who_leave_say_nothing_of_a_server_and_deadlines_that_pass_do(
    deadline: float | None, failed: bool
) -> None:
    server = Server()
    for _ in range(3):
        server.now = 10.0
        with call.running(Call(deadline=deadline)):
            asked = asyncio.ensure_future(guarded(server.breaker, asyncio.Event().wait)())
        await asyncio.sleep(0)
        server.now += SLOW
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    assert (await server.asked() == 0) is failed


async def test_a_model_that_hangs_until_our_own_timer_ends_it_has_failed() -> None:
    breaker = Breaker("embedder", 1)
    step = guarded(breaker, asyncio.Event().wait)
    with pytest.raises(DeadlineExceeded):
        await within(SLOW + 0.01, 1.0, step)
    with pytest.raises(ModelUnavailable):
        await step()


async def test_a_stream_that_hangs_until_our_own_timer_ends_it_has_failed() -> None:
    async def words() -> AsyncGenerator[str, None]:
        yield "one"
        await asyncio.Event().wait()

    breaker = Breaker("generator", 1)
    stream = guarded_stream(breaker, words)
    with pytest.raises(DeadlineExceeded):
        async for _ in timely(SLOW + 0.01, stream()):
            pass
    with pytest.raises(ModelUnavailable):
        await anext(stream())


async def test_readers_who_leave_a_long_stream_do_not_take_it_from_others() -> None:
    server = Server()

    async def words() -> AsyncGenerator[str, None]:
        yield "one"
        await asyncio.Event().wait()

    async def reads() -> None:
        async with aclosing(guarded_stream(server.breaker, words)()) as pieces:
            async for _ in pieces:
                pass

    for _ in range(5):
        left = asyncio.ensure_future(reads())
        await asyncio.sleep(0)
        server.now += 10 * SLOW
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
    server.failure = None
    assert await server.asked() == 1


async def test_zero_failures_switch_it_off() -> None:
    server = Server()
    server.breaker.failures = 0
    assert await server.asked(10) == 10


async def test_a_late_reply_is_asked_for_again_and_the_first_one_taken() -> None:
    asked: list[int] = []

    async def step() -> int:
        asked.append(len(asked))
        mine = asked[-1]
        if mine == 0:
            await asyncio.sleep(60)
        return mine

    assert await hedged(0.01, step)() == 1
    assert len(asked) == 2
    assert await hedged(60, step)() == 2  # in time: asked once
    assert len(asked) == 3


async def test_a_failure_is_not_asked_again() -> None:
    server = Server()
    with pytest.raises(ModelUnavailable):
        await hedged(60, server.step)()
    assert server.calls == 1
    assert hedged(0, server.step) == server.step


async def test_when_both_fail_the_first_failure_is_told_and_a_leaving_caller_stops_both() -> None:
    calls = 0

    async def fail() -> None:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.03)
        raise ModelUnavailable("embedder")

    with pytest.raises(ModelUnavailable):
        await hedged(0.01, fail)()
    assert calls == 2
    stopped: list[int] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(1)

    task = asyncio.ensure_future(hedged(0.01, wait)())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0)
    assert stopped == [1, 1]
