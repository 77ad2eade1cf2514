"""The door of a server: what every call passes on its way in and out.

A handler only checks, calls the core and answers; what it raises is translated here, once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from time import perf_counter
from typing import Any, TypeAlias

import grpc
from grpc import aio
from grpc_status import rpc_status

from radrag import account, call, errors, telemetry
from radrag.access import rights
from radrag.access.certificates import names
from radrag.access.identity import NOBODY, Anyone, Identity
from radrag.account import Account, Trail
from radrag.admission.limits import Admission, Limits
from radrag.errors import Overloaded
from radrag.serving.unreadable import careful, readable

log = telemetry.logs.get(__name__)

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class Door(aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """Finds out who calls and whether they may; counts, traces, logs, audits; translates errors."""

    def __init__(
        self,
        limits: Limits,
        trail: Trail = Trail(),  # noqa: B008  a frozen value
        identity: Identity = Anyone(),  # noqa: B008  as above
    ) -> None:
        self._admission, self._trail, self._identity = Admission(limits), trail, identity
        self.arrived = 0

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        self.arrived += 1
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
                    return await inner(readable(request), context)
            except Exception as error:  # noqa: BLE001  the one place where everything is translated
                await _abort(context, error)

        make = (
            grpc.stream_unary_rpc_method_handler
            if handler.request_streaming
            else grpc.unary_unary_rpc_method_handler
        )
        return make(answer, careful(handler.request_deserializer), handler.response_serializer)

    def _streamed(self, handler: Handler, method: str) -> Handler:
        inner: Any = handler.stream_stream if handler.request_streaming else handler.unary_stream

        async def answer(request: Any, context: "aio.ServicerContext[Any, Any]") -> AsyncIterator[Any]:
            try:
                async with self._passing(method, context):
                    async for frame in inner(readable(request), context):
                        yield frame
            except Exception as error:  # noqa: BLE001  as above
                await _abort(context, error)

        make = (
            grpc.stream_stream_rpc_method_handler
            if handler.request_streaming
            else grpc.unary_stream_rpc_method_handler
        )
        return make(answer, careful(handler.request_deserializer), handler.response_serializer)

    @asynccontextmanager
    async def _passing(self, method: str, context: "aio.ServicerContext[Any, Any]") -> AsyncIterator[None]:
        metadata, left = _metadata(context), context.time_remaining()
        call.enter(call.of(NOBODY, metadata, left))
        told = account.enter(Account(method, self._trail))
        with _counted(told, metadata):
            async with _audited(told):
                call.enter(await self._identity.call(metadata, names(context.auth_context()), left))
                rights.check(method, call.current())
                async with self._admission.admitted(method, call.current(), left):
                    with _disks():
                        yield


@contextmanager
def _disks() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if (known := errors.of_disk(error)) is error:
            raise
        log.error("a disk takes no writes", error=error.strerror)
        raise known from error


@asynccontextmanager
async def _audited(told: Account) -> AsyncIterator[None]:
    """Writes the call's record before its caller sees how it ended.

    Nobody waits for it where the caller has left, or was refused for want of room: a flood must not queue up
    before the disk.
    """
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        told.submit(grpc.StatusCode.CANCELLED.name)
        raise
    except Overloaded as error:
        told.submit(error.code.name)
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
    telemetry.expect(method)
    telemetry.child(telemetry.IN_FLIGHT, method).inc()
    try:
        yield
        code = told.failure.code if told.failure else code
    except (asyncio.CancelledError, GeneratorExit):
        code = grpc.StatusCode.CANCELLED
        raise
    except Exception as error:
        code = _code(error)
        if not isinstance(error, errors.RadragError):  # its caller learns nothing of it, so we must
            log.error("call failed", method=method, request_id=call.current().request_id, exc_info=error)
        raise
    finally:
        telemetry.child(telemetry.IN_FLIGHT, method).dec()
        # Once the reply has been handed over: its caller does not wait for what is told of it.
        asyncio.get_running_loop().call_soon(_tell, told, code, perf_counter() - started, span)


def _tell(told: Account, code: grpc.StatusCode, seconds: float, span: telemetry.Span) -> None:
    telemetry.child(telemetry.REQUESTS, told.method, code.name).inc()
    if code is not Overloaded.code:  # a refusal takes no time, and would make a flood look fast
        telemetry.child(telemetry.REQUEST_DURATION, told.method).observe(seconds, telemetry.exemplar(span))
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
