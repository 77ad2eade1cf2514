"""Every call passes the same door: context, counting, admission, health, graceful stop."""

import asyncio
import errno
import os
import time
from contextlib import suppress
from typing import Any

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import REGISTRY

from radrag import call, errors, serving
from radrag.admission.limits import Limits
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.retrieval.v1 import retrieval_pb2_grpc as wire
from radrag.serving.dropped import Dropped
from radrag.serving.server import LEAST_ROOM

DESCRIBE = "radrag.retrieval.v1.RetrievalService/Describe"


class Describing(wire.RetrievalServiceServicer):
    """Answers with the caller's subject; waits for `open` first."""

    def __init__(self) -> None:
        self.open, self.entered, self.time_left = asyncio.Event(), asyncio.Event(), 0.0
        self.open.set()

    async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:  # noqa: N802
        self.entered.set()
        self.time_left = call.time_left(60)
        await self.open.wait()
        return pb.DescribeResponse(generation=call.current().caller.subject)


async def started(service: Describing, max_in_flight: int = 64) -> serving.Server:
    return await serving.start(
        lambda one: wire.add_RetrievalServiceServicer_to_server(service, one),
        "127.0.0.1:0",
        limits=Limits(max_in_flight),
    )


def counted(code: str) -> float:
    return REGISTRY.get_sample_value("radrag_requests_total", {"method": DESCRIBE, "code": code}) or 0.0


def before_the_door() -> float:
    return REGISTRY.get_sample_value("radrag_rejected_total", {"reason": "before_the_door"}) or 0.0


def in_flight() -> float:
    return REGISTRY.get_sample_value("radrag_requests_in_flight", {"method": DESCRIBE}) or 0.0


async def test_the_handler_runs_for_the_caller_and_until_the_deadline() -> None:
    service = Describing()
    server = await started(service)
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = wire.RetrievalServiceStub(channel)
        reply = await stub.Describe(pb.DescribeRequest(), timeout=5, metadata=((call.SUBJECT, "anna"),))
    await server.stop()
    assert reply.generation == "anna"
    assert 3 < service.time_left <= 5


async def test_calls_are_counted_by_code_and_the_gauge_returns_to_zero_after_a_cancel() -> None:
    service = Describing()
    server = await started(service)
    ok, cancelled = counted("OK"), counted("CANCELLED")
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = wire.RetrievalServiceStub(channel)
        await stub.Describe(pb.DescribeRequest())
        service.open.clear()
        service.entered.clear()
        running = stub.Describe(pb.DescribeRequest())
        task = asyncio.ensure_future(running)
        await service.entered.wait()
        assert in_flight() == 1
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while in_flight():
            await asyncio.sleep(0.01)
    await server.stop()
    assert (counted("OK") - ok, counted("CANCELLED") - cancelled) == (1, 1)


class Context:
    """As much of gRPC's as the door asks for."""

    def invocation_metadata(self) -> None: ...

    def time_remaining(self) -> None: ...

    def auth_context(self) -> dict[str, list[bytes]]:
        return {}


async def test_a_caller_does_not_wait_for_what_is_told_of_its_call() -> None:
    async def echo(request: bytes, context: object) -> bytes:
        return request

    server_side: Any = serving.Door(Limits())._unary(grpc.unary_unary_rpc_method_handler(echo), DESCRIBE)
    before = counted("OK")
    assert await server_side.unary_unary(b"reply", Context()) == b"reply"
    assert (counted("OK"), in_flight()) == (before, 0)  # gRPC has the reply, and goes on with it first
    await asyncio.sleep(0)
    assert counted("OK") == before + 1


async def test_one_call_too_many_is_refused_at_once_with_a_hint() -> None:
    service = Describing()
    server = await started(service, max_in_flight=1)
    service.open.clear()
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = wire.RetrievalServiceStub(channel)
        first = asyncio.ensure_future(stub.Describe(pb.DescribeRequest()))
        await service.entered.wait()
        with pytest.raises(grpc.RpcError) as refused:
            await stub.Describe(pb.DescribeRequest())
        service.open.set()
        await first
    await server.stop()
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_flood_before_a_busy_loop_is_dropped_at_once_counted_and_may_be_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else all of it waits where admission does not see it, for as long as it lasts."""
    monkeypatch.setattr("radrag.serving.dropped.EVERY_SECONDS", 0.05)
    server, before = await started(Describing()), before_the_door()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        ask = wire.RetrievalServiceStub(channel).Describe
        await asyncio.to_thread(ask, pb.DescribeRequest())
        calls = [ask.future(pb.DescribeRequest(), timeout=20) for _ in range(300)]
        time.sleep(1)  # noqa: ASYNC251  the loop is busy
        dropped = [one for one in calls if one.done()]
        codes = await asyncio.to_thread(lambda: {one.code() for one in calls})  # waits for the rest
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                while before_the_door() - before < len(dropped):
                    await asyncio.sleep(0.05)
    await server.stop()
    assert 150 < len(dropped) < 300 - LEAST_ROOM + 1
    assert {one.code() for one in dropped} == {grpc.StatusCode.CANCELLED}
    assert codes == {grpc.StatusCode.CANCELLED, grpc.StatusCode.OK}
    assert isinstance(errors.from_rpc(dropped[0]), errors.Unavailable)
    assert before_the_door() - before == len(dropped)


async def test_a_call_that_may_still_wait_is_not_counted_until_nobody_comes_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("radrag.serving.dropped.EVERY_SECONDS", 0.01)
    books = iter([(0, 0), (90, 10), (95, 15), (95, 15), (97, 17), *[(97, 17)] * 1000])
    dropped, before, counted = Dropped(1, lambda: 0, 72), before_the_door(), []

    def look() -> tuple[int, int]:
        counted.append(before_the_door() - before)
        return next(books)

    monkeypatch.setattr(dropped, "look", look)
    watching = asyncio.create_task(dropped.watch())
    while len(counted) < 8:
        await asyncio.sleep(0.01)
    watching.cancel()
    assert counted[:8] == [0, 0, 8, 8, 80, 80, 80, 80]


async def test_calls_of_another_server_are_not_missed_at_this_one() -> None:
    one = await started(Describing())
    dropped = Dropped.newest(lambda: 0, 0)  # of the health port, which was made last
    async with aio.insecure_channel(f"127.0.0.1:{one.port}") as channel:
        await wire.RetrievalServiceStub(channel).Describe(pb.DescribeRequest())
    assert dropped.look() == (0, 0)
    async with aio.insecure_channel(f"127.0.0.1:{one.health_port}") as channel:
        await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert dropped.look() == (1, 0)
    await one.stop()


async def test_a_call_of_an_unknown_method_arrived_at_the_door() -> None:
    door = serving.Door(Limits())
    server = aio.server(interceptors=[door])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        with pytest.raises(aio.AioRpcError) as unknown:
            await wire.RetrievalServiceStub(channel).Describe(pb.DescribeRequest())
    await server.stop(0)
    assert (unknown.value.code(), door.arrived) == (grpc.StatusCode.UNIMPLEMENTED, 1)


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        (errno.ENOSPC, grpc.StatusCode.UNAVAILABLE, "DISK_FULL"),
        (errno.EROFS, grpc.StatusCode.UNAVAILABLE, "DISK_FULL"),
        (errno.EIO, grpc.StatusCode.INTERNAL, "INTERNAL"),
    ],
)
async def test_a_disk_that_takes_no_writes_is_no_fault_of_ours_and_its_path_is_not_told(
    number: int, code: grpc.StatusCode, reason: str
) -> None:
    class Failing(wire.RetrievalServiceServicer):
        async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:  # noqa: N802
            raise OSError(number, os.strerror(number), "/secret/place")

    server = await serving.start(
        lambda one: wire.add_RetrievalServiceServicer_to_server(Failing(), one), "127.0.0.1:0"
    )
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        with pytest.raises(aio.AioRpcError) as failure:
            await wire.RetrievalServiceStub(channel).Describe(pb.DescribeRequest(), timeout=20)
    await server.stop()
    assert failure.value.code() is code
    assert errors.from_rpc(failure.value).reason == reason
    assert "secret" not in str(failure.value.details())


async def test_health_has_its_own_port_and_follows_readiness() -> None:
    server = await started(Describing())
    async with aio.insecure_channel(f"127.0.0.1:{server.health_port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        before = await stub.Check(health_pb2.HealthCheckRequest())
        await server.ready("one")
        after = await stub.Check(health_pb2.HealthCheckRequest(service="one"))
    await server.stop()
    assert (before.status, after.status) == (serving.NOT_SERVING, serving.SERVING)


async def test_a_taken_port_is_named() -> None:
    server = await started(Describing())
    with pytest.raises(OSError, match=f"port {server.port} on 127.0.0.1"):
        await serving.start(lambda one: None, f"127.0.0.1:{server.port}")
    await server.stop()


async def test_a_graceful_stop_lets_a_running_call_end() -> None:
    service = Describing()
    server = await started(service)
    service.open.clear()
    async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        running = asyncio.ensure_future(wire.RetrievalServiceStub(channel).Describe(pb.DescribeRequest()))
        await service.entered.wait()
        stopping = asyncio.ensure_future(server.stop(5))
        await asyncio.sleep(0.05)
        service.open.set()
        assert (await running).generation == "dev"
        await stopping
