"""Trace context in and out, and the span of a call. Exporting is set up by the standard OTEL_* variables."""

import atexit
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from radrag.telemetry import sending
from radrag.telemetry.spans import Silent, Tracer, current

# What makes the spans. Until they have somewhere to go, nothing does.
tracer: Tracer | Silent = Silent()
W3C = TraceContextTextMapPropagator()
NOWHERE = Context()

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
# The server's faults; what a caller did wrong is no error of its span (semantic conventions for rpc).
FAULTS = {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}


def export_spans(process: str, version: str) -> None:
    """Sends spans as OTLP over HTTP where OTEL_EXPORTER_OTLP_ENDPOINT says; without it they are dropped.

    Sampling is OTEL_TRACES_SAMPLER's, by default that of the caller's trace, or all.
    """
    if os.environ.get("OTEL_TRACES_EXPORTER") == "none" or not any(map(os.environ.get, ENDPOINTS)):
        return
    resource = Resource.create({"service.name": f"radrag-{process}", "service.version": version})
    global tracer
    tracer, close = sending.opened(resource)
    atexit.register(close)


def server_span(method: str, metadata: Mapping[str, str]) -> Span:
    """The span of an inbound call, below the caller's `traceparent`."""
    return tracer.start_span(
        method,
        context=W3C.extract(metadata),
        kind=SpanKind.SERVER,
        attributes={"rpc.system.name": "grpc", "rpc.method": method},
    )


def end_call(span: Span, code: str) -> None:
    """Ends a call's span with its gRPC code."""
    span.set_attribute("rpc.response.status_code", code)
    if code in FAULTS:
        span.set_attribute("error.type", code)
        span.set_status(Status(StatusCode.ERROR, code))
    span.end()


def activate(span: Span) -> None:
    """Makes `span` current until the task ends; for stream handlers, which may be closed from elsewhere."""
    current.set(span)


@contextmanager
def being(span: Span) -> Iterator[None]:
    """Makes `span` current for a block."""
    token = current.set(span)
    try:
        yield
    finally:
        current.reset(token)


def fail(span: Span, kind: str) -> None:
    """Marks a span as failed; `kind` is the failure's class."""
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, kind))


def trace_id(span: Span | None = None) -> str:
    """The 32 hex digits of a span's trace, the current one's by default; empty where nothing is kept."""
    ids = (span or current.get()).get_span_context()
    return f"{ids.trace_id:032x}" if ids.trace_flags.sampled else ""


def exemplar(span: Span) -> dict[str, str] | None:
    """What leads from a histogram's bucket to a trace."""
    sampled = trace_id(span)
    return {"trace_id": sampled} if sampled else None


def propagated(metadata: tuple[tuple[str, str], ...] = ()) -> tuple[tuple[str, str], ...]:
    """`metadata` with the current span's W3C trace context."""
    span = current.get()
    if not span.get_span_context().is_valid:
        return metadata
    carrier: dict[str, str] = {}
    W3C.inject(carrier, set_span_in_context(span, NOWHERE))
    return (*metadata, *carrier.items())
