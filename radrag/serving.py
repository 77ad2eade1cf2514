"""A gRPC server the way every RadRAG process runs one: context, errors, metrics, health, graceful stop.

A handler only checks, calls the core and answers; what it raises is translated here, once.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeAlias

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection
from grpc_status import rpc_status

from radrag import account, call, errors, telemetry
from radrag.account import Account, Trail
from radrag.errors import Overloaded

log = telemetry.logs.get(__name__)

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
MESSAGE_BYTES = 16 * 1024 * 1024

# Two processes must not share a port unnoticed; a dead peer is found within a minute and a half.
OPTIONS: list[tuple[str, int]] = [
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 30_000),
    ("grpc.keepalive_permit_without_calls", 1),
]


@dataclass
class Server:
    """A running server: where it listens, its health, and how to stop it."""

    grpc: aio.Server
    port: int
    health: HealthServicer
    health_grpc: aio.Server
    health_port: int
    stop_metrics: Callable[[], None] = field(default=lambda: None)
    lag: "asyncio.Task[None] | None" = None

    async def ready(self, *services: str, serving: bool = True) -> None:
        """Says whether the named services, and the server as a whole, take calls."""
        for service in ("", *services):
            await self.health.set(service, SERVING if serving else NOT_SERVING)

    async def stop(self, seconds: float = 0.0) -> None:
        """Refuses new calls, lets running ones end for `seconds`, then cancels them."""
        await self.health.enter_graceful_shutdown()
        await self.grpc.stop(seconds)
        await self.health_grpc.stop(0)
        self.stop_metrics()
        if self.lag:
            self.lag.cancel()
            with suppress(asyncio.CancelledError):
                await self.lag


async def start(
    add: Callable[[aio.Server], None],
    address: str,
    *,
    names: tuple[str, ...] = (),
    max_in_flight: int = 64,
    offset: bool = True,
    metrics_host: str = "",
    trail: Trail = Trail(),  # noqa: B008  a frozen value
) -> Server:
    """Starts a server with the services that `add` registers.

    `address` is host:port; port 0 picks free ports. With `offset`, health listens 100 and metrics 200 above.
    `names`, when given, are the services offered by reflection. Calls are written to `trail`. Not ready until
    told so.
    """
    host, _, port = address.rpartition(":")
    server = aio.server(interceptors=[Door(max_in_flight, trail)], options=OPTIONS)
    add(server)
    if names:
        reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    bound = _bind(server, host, int(port))
    health, health_server = HealthServicer(), aio.server(options=OPTIONS)
    health_pb2_grpc.add_HealthServicer_to_server(health, health_server)
    health_bound = _bind(health_server, host, bound + 100 if offset and int(port) else 0)
    await health.set("", NOT_SERVING)
    await server.start()
    await health_server.start()
    stop = telemetry.serve_metrics(metrics_host, bound + 200) if metrics_host else lambda: None
    lag = asyncio.create_task(telemetry.watch_event_loop())
    return Server(server, bound, health, health_server, health_bound, stop, lag)


def _bind(server: aio.Server, host: str, port: int) -> int:
    try:
        return server.add_insecure_port(f"{host}:{port}")
    except RuntimeError as error:
        raise OSError(f"port {port} on {host} is taken or may not be used") from error


async def until_stopped(server: Server, drain_seconds: float) -> None:
    """Waits for SIGTERM or SIGINT, then stops gracefully."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    await server.stop(drain_seconds)


class Door(aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """What every call passes: context is set; it is counted, traced, logged, audited; errors translated."""

    def __init__(self, max_in_flight: int, trail: Trail = Trail()) -> None:  # noqa: B008  a frozen value
        self._max_in_flight, self._trail = max_in_flight, trail
        self._in_flight = 0

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        handler = await continuation(handler_call_details)
        if handler is None:
            return handler
        method = handler_call_details.method.lstrip("/")
        return self._streamed(handler, method) if handler.response_streaming else self._unary(handler, method)

    def _unary(self, handler: Handler, method: str) -> Handler:
        inner: Any = handler.stream_unary if handler.request_streaming else handler.unary_unary

        async def answer(request: Any, context: "aio.ServicerContext[Any, Any]") -> Any:
            try:
                async with self._passing(method, context):
                    return await inner(request, context)
            except Exception as error:  # noqa: BLE001  the one place where everything is translated
                await _abort(context, error)

        make = (
            grpc.stream_unary_rpc_method_handler
            if handler.request_streaming
            else grpc.unary_unary_rpc_method_handler
        )
        return make(answer, handler.request_deserializer, handler.response_serializer)

    def _streamed(self, handler: Handler, method: str) -> Handler:
        inner: Any = handler.unary_stream

        async def answer(request: Any, context: "aio.ServicerContext[Any, Any]") -> AsyncIterator[Any]:
            try:
                async with self._passing(method, context):
                    async for frame in inner(request, context):
                        yield frame
            except Exception as error:  # noqa: BLE001  as above
                await _abort(context, error)

        return grpc.unary_stream_rpc_method_handler(
            answer, handler.request_deserializer, handler.response_serializer
        )

    @asynccontextmanager
    async def _passing(self, method: str, context: "aio.ServicerContext[Any, Any]") -> AsyncIterator[None]:
        metadata = _metadata(context)
        call.enter(call.from_metadata(metadata, context.time_remaining()))
        told = account.enter(Account(method, self._trail))
        with _counted(told, metadata):
            async with _audited(told):
                with self._admitted():
                    yield

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._in_flight >= self._max_in_flight:
            telemetry.REJECTED.labels("in_flight").inc()
            raise Overloaded(f"more than {self._max_in_flight} calls at once", 0.5)
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1


@asynccontextmanager
async def _audited(told: Account) -> AsyncIterator[None]:
    """Writes the call's record before its caller sees how it ended; for one that left, without waiting."""
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        told.submit(grpc.StatusCode.CANCELLED.name)
        raise
    except Exception as error:
        await told.settle(_code(error).name)
        raise
    await told.settle()


@contextmanager
def _counted(told: Account, metadata: Mapping[str, str]) -> Iterator[None]:
    method = told.method
    started, span, code = perf_counter(), telemetry.server_span(method, metadata), grpc.StatusCode.OK
    telemetry.activate(span)
    telemetry.IN_FLIGHT.labels(method).inc()
    try:
        yield
        code = told.failure.code if told.failure else code
    except (asyncio.CancelledError, GeneratorExit):
        code = grpc.StatusCode.CANCELLED
        raise
    except Exception as error:
        code = _code(error)
        raise
    finally:
        seconds = perf_counter() - started
        telemetry.IN_FLIGHT.labels(method).dec()
        telemetry.REQUESTS.labels(method, code.name).inc()
        if code is not Overloaded.code:  # a refusal takes no time, and would make a flood look fast
            telemetry.REQUEST_DURATION.labels(method).observe(seconds, telemetry.exemplar(span))
        telemetry.end_call(span, code.name)
        _log(told, code.name, seconds, telemetry.trace_id(span))


def _code(error: Exception) -> grpc.StatusCode:
    return error.code if isinstance(error, errors.RadragError) else grpc.StatusCode.INTERNAL


def _log(told: Account, code: str, seconds: float, trace_id: str) -> None:
    running = call.current()
    stages = {stage.name: round(stage.duration, 4) for stage in telemetry.recorded()}
    log.info(
        "call",
        method=told.method,
        code=code,
        outcome=told.outcome,
        seconds=round(seconds, 4),
        stages=stages,
        request_id=running.request_id,
        subject=running.caller.subject,
        trace_id=trace_id,
    )


async def _abort(context: "aio.ServicerContext[Any, Any]", error: Exception) -> None:
    if isinstance(error, aio.AbortError):
        raise error
    status = errors.to_status(error, call.current().request_id)
    await context.abort_with_status(rpc_status.to_status(status))  # type: ignore[attr-defined]  # stubs lack it


def _metadata(context: "aio.ServicerContext[Any, Any]") -> dict[str, str]:
    pairs = context.invocation_metadata() or ()
    return {key: value for key, value in pairs if isinstance(value, str)}
