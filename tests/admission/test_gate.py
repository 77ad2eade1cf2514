"""A full method makes callers wait in line, refuses what cannot be in time, and starves no other method."""

import asyncio
from concurrent.futures import Future
from contextlib import suppress

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import aio
from grpc_status import rpc_status
from hypothesis import given
from hypothesis import strategies as st

from radrag import serving
from radrag.account import Trail
from radrag.admission.gate import Gate
from radrag.admission.limits import Limits
from radrag.admission.rates import MOST_CALLERS, Rates
from radrag.audit.journal import Journal, Record
from radrag.errors import Overloaded
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.retrieval.v1 import retrieval_pb2_grpc as wire


async def held(gate: Gate, until: asyncio.Event, left: float | None = None) -> None:
    async with gate.passed(left):
        await until.wait()


async def test_who_comes_first_goes_first_and_one_too_many_is_refused() -> None:
    gate, served, ends = Gate(running=1, waiting=2), [], [asyncio.Event() for _ in range(3)]

    async def one(number: int) -> None:
        async with gate.passed(None):
            served.append(number)
            await ends[number].wait()

    tasks = [asyncio.ensure_future(one(number)) for number in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as refused:
        await held(gate, asyncio.Event())
    assert refused.value.reason == "OVERLOADED_IN_FLIGHT"
    for number in range(3):
        ends[number].set()
        await tasks[number]
        await asyncio.sleep(0)
    assert served == [0, 1, 2]


async def test_a_call_that_cannot_be_in_time_is_refused_at_once_and_one_that_can_waits() -> None:
    gate, end = Gate(running=1, waiting=10, mean=2.0), asyncio.Event()
    first = asyncio.ensure_future(held(gate, end))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as refused:
        await held(gate, end, left=3.0)  # two seconds in line and two of its own
    assert (refused.value.reason, refused.value.retry_after) == ("OVERLOADED_DEADLINE", 2.0)
    second = asyncio.ensure_future(held(gate, end, left=5.0))
    await asyncio.sleep(0)
    end.set()
    await asyncio.gather(first, second)


async def test_without_a_line_a_short_deadline_is_let_in() -> None:
    """Its answer may come without some of its parts, which is better than none."""
    end = asyncio.Event()
    end.set()
    await held(Gate(running=1, mean=10.0), end, left=0.5)


@given(
    steps=st.lists(st.sampled_from(["come", "finish", "leave", "leave the line"]), max_size=60),
    running=st.integers(1, 3),
    waiting=st.integers(0, 3),
)
def test_places_are_neither_lost_nor_doubled_whoever_leaves_when(
    steps: list[str], running: int, waiting: int
) -> None:
    asyncio.run(play(steps, running, waiting))


async def play(steps: list[str], running: int, waiting: int) -> None:
    gate, inside, most = Gate(running, waiting), 0, 0
    ends: list[tuple[asyncio.Event, asyncio.Task[None]]] = []

    async def one(end: asyncio.Event) -> None:
        nonlocal inside, most
        async with gate.passed(None):
            inside += 1
            most = max(most, inside)
            try:
                await end.wait()
            finally:
                inside -= 1

    for step in steps:
        if step == "come":
            end = asyncio.Event()
            ends.append((end, asyncio.ensure_future(one(end))))
        elif ends:
            end, task = ends.pop(-1 if step == "leave the line" else 0)
            end.set() if step == "finish" else task.cancel()
        await asyncio.sleep(0)
    for end, _ in ends:
        end.set()
    await asyncio.gather(*(task for _, task in ends), return_exceptions=True)
    for _ in range(20):
        await asyncio.sleep(0)
    assert (inside, gate._inside, len(gate._line)) == (0, 0, 0)
    assert most <= running


def test_a_caller_has_a_burst_and_then_its_rate_whatever_others_do() -> None:
    now = [0.0]
    rates = Rates(per_second=2.0, burst=3, clock=lambda: now[0])
    for _ in range(3):
        rates.take("anna")
    with pytest.raises(Overloaded) as refused:
        rates.take("anna")
    assert (refused.value.reason, refused.value.retry_after) == ("OVERLOADED_RATE", 0.5)
    rates.take("boris")
    now[0] = 0.5
    rates.take("anna")
    now[0] = -100.0  # the clock was set back: nothing is given, nothing breaks
    with pytest.raises(Overloaded):
        rates.take("anna")


def test_a_quota_ends_at_midnight() -> None:
    now = [86_400.0 * 3 + 100.0]
    rates = Rates(per_day=2, clock=lambda: now[0])
    rates.take("anna")
    rates.take("anna")
    with pytest.raises(Overloaded) as refused:
        rates.take("anna")
    assert (refused.value.reason, refused.value.retry_after) == ("OVERLOADED_QUOTA", 86_300.0)
    now[0] += 86_300.0
    rates.take("anna")


def test_made_up_subjects_do_not_fill_the_memory() -> None:
    rates = Rates(per_second=1.0)
    for number in range(MOST_CALLERS + 100):
        rates.take(str(number))
    assert len(rates._spent) == MOST_CALLERS


class Slow(wire.RetrievalServiceServicer):
    """Describe waits for `open`; ListGenerations does not."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:  # noqa: N802
        await self.open.wait()
        return pb.DescribeResponse()

    async def ListGenerations(  # noqa: N802
        self, request: pb.ListGenerationsRequest, context: object
    ) -> pb.ListGenerationsResponse:
        return pb.ListGenerationsResponse()


async def test_a_full_method_refuses_with_a_hint_and_the_others_go_on() -> None:
    slow = Slow()
    server = await serving.start(
        lambda one: wire.add_RetrievalServiceServicer_to_server(slow, one), "127.0.0.1:0", limits=Limits(2, 1)
    )
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = wire.RetrievalServiceStub(channel)
        calls = [asyncio.ensure_future(ended(stub)) for _ in range(4)]
        _, pending = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        assert len(pending) == 3  # two run, one waits
        await stub.ListGenerations(pb.ListGenerationsRequest(), timeout=20)
        slow.open.set()
        answers = await asyncio.gather(*calls)
    await server.stop()
    (refused,) = [one for one in answers if one]
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert hint(refused) >= 0.1


class Stuck(Journal):
    """A journal whose disk never answers, which keeps what it was handed."""

    def __init__(self) -> None:
        self.content, self.handed = False, list[Record]()

    def append(self, record: Record) -> "Future[None]":
        self.handed.append(record)
        return Future()


async def test_a_refusal_is_written_down_but_does_not_wait_for_the_disk() -> None:
    slow, journal = Slow(), Stuck()
    server = await serving.start(
        lambda one: wire.add_RetrievalServiceServicer_to_server(slow, one),
        "127.0.0.1:0",
        limits=Limits(1, 0),
        trail=Trail(journal, required=True),
    )
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = wire.RetrievalServiceStub(channel)
        calls = [asyncio.ensure_future(ended(stub)) for _ in range(2)]
        (refused,), pending = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        assert [one["code"] for one in journal.handed] == ["RESOURCE_EXHAUSTED"]
        assert hint(refused.result() or pytest.fail("not refused")) >= 0.1
        for one in pending:
            one.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    await server.stop()


async def ended(stub: wire.RetrievalServiceStub) -> aio.AioRpcError | None:
    try:
        await stub.Describe(pb.DescribeRequest(), timeout=60)
    except aio.AioRpcError as error:
        return error
    return None


def hint(error: aio.AioRpcError) -> float:
    """The seconds of RetryInfo."""
    info = error_details_pb2.RetryInfo()
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # an AioRpcError is a call too
    with suppress(StopIteration):
        next(one for one in status.details if one.Unpack(info))
    return float(info.retry_delay.ToMilliseconds()) / 1000
