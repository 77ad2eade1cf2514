"""The one door to OpenTelemetry and prometheus_client: stages, metrics, and trace context.

Nothing here sees question, answer or document text. Exporters are configured by the
standard OTEL_* variables.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from inspect import isasyncgenfunction
from time import perf_counter
from typing import Any, TypeVar

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract, inject
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from prometheus_client import Counter, Gauge, Histogram, start_http_server

F = TypeVar("F", bound=Callable[..., Any])

tracer = trace.get_tracer("radrag")

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

REQUESTS = Counter("radrag_requests", "Calls ended, by method and gRPC code.", ["method", "code"])
REQUEST_DURATION = Histogram(
    "radrag_request_duration_seconds", "Time from a call's arrival to its end.", ["method"], buckets=SECONDS
)
STAGE_DURATION = Histogram(
    "radrag_stage_duration_seconds", "Time one stage took.", ["stage", "outcome"], buckets=SECONDS
)
TIME_TO_FIRST_TOKEN = Histogram(
    "radrag_time_to_first_token_seconds",
    "Time to the first token: from the model, and to the caller.",
    ["at"],
    buckets=SECONDS,
)
GENERATED_TOKENS = Counter("radrag_generated_tokens", "Tokens the generator wrote.")
IN_FLIGHT = Gauge("radrag_requests_in_flight", "Calls running now.", ["method"])
REJECTED = Counter("radrag_rejected", "Calls refused before any work.", ["reason"])
OUTCOMES = Counter("radrag_outcomes", "Answers by outcome.", ["outcome"])
DEGRADED = Counter("radrag_degraded", "Replies for which a part was missing.", ["what"])
CITATIONS = Counter("radrag_citations", "Citations by result of their check.", ["verified"])
TRUNCATIONS = Counter("radrag_truncations", "Texts a model had to cut.", ["model"])
RERANK_SCORE = Histogram(
    "radrag_rerank_score", "Best rerank score of a question.", buckets=tuple(n / 20 for n in range(1, 21))
)
INDEX_POINTS = Gauge("radrag_index_points", "Live points in the index.", ["topic", "level"])
DOCUMENTS = Gauge("radrag_documents", "Document versions by state.", ["state"])
INGEST_STAGE_DURATION = Histogram(
    "radrag_ingest_stage_duration_seconds",
    "Time one stage of the corpus path took for one document.",
    ["stage", "outcome"],
    buckets=SECONDS,
)


@dataclass(frozen=True)
class StageTime:
    """One measured stage. `start` and `duration` in seconds, `start` since the recording began."""

    name: str
    start: float
    duration: float
    outcome: str


@dataclass
class Recording:
    """The stages of one call, in the order they ended."""

    began: float = field(default_factory=perf_counter)
    stages: list[StageTime] = field(default_factory=list)


_recording: ContextVar[Recording | None] = ContextVar("radrag_recording", default=None)


def configure(process: str) -> None:
    """Sends spans where OTEL_EXPORTER_OTLP_ENDPOINT says; without it spans are made and dropped."""
    if not (
        os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    ):
        return
    provider = TracerProvider(resource=Resource.create({"service.name": f"radrag-{process}"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def serve_metrics(host: str, port: int) -> Callable[[], None]:
    """Serves /metrics from a thread of its own, so that load never hides it. Returns what stops it."""
    server, thread = start_http_server(port, addr=host)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop


def record_stages() -> Recording:
    """Starts a recording for the current task and the tasks it starts; `traced` stages join it."""
    recording = Recording()
    _recording.set(recording)
    return recording


def traced(stage: str, function: F, durations: Histogram = STAGE_DURATION) -> F:
    """Wraps an async function, or an async generator, in a span and a duration measurement."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with measured(stage, durations) as span, _current(span):
            return await function(*args, **kwargs)

    @wraps(function)
    async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        # A span is never current across a yield: the consumer may finish us in another context,
        # where OpenTelemetry cannot detach it.
        with measured(stage, durations) as span:
            async with aclosing(function(*args, **kwargs)) as items:
                with _current(span):
                    first = await anext(items, None)
                if first is not None:
                    span.add_event("first item")
                    yield first
                async for item in items:
                    yield item

    return stream if isasyncgenfunction(function) else call  # type: ignore[return-value]


@contextmanager
def measured(stage: str, durations: Histogram = STAGE_DURATION) -> Iterator[Span]:
    """A span `radrag.<stage>`, a histogram sample and a line of the recording, whatever the block's end."""
    started, span, outcome = perf_counter(), tracer.start_span(f"radrag.{stage}"), "ok"
    try:
        yield span
    except GeneratorExit:  # the consumer has had enough: no failure
        raise
    except BaseException as error:
        outcome = type(error).__name__
        if isinstance(error, Exception):  # being cancelled is no failure either
            span.set_status(Status(StatusCode.ERROR, outcome))
        raise
    finally:
        _finish(stage, started, outcome, span, durations)


def _finish(stage: str, started: float, outcome: str, span: Span, durations: Histogram) -> None:
    span.set_attribute("radrag.outcome", outcome)
    span.end()
    duration = perf_counter() - started
    durations.labels(stage, outcome).observe(duration, _exemplar(span))
    recording = _recording.get()
    if recording is not None:
        recording.stages.append(StageTime(stage, started - recording.began, duration, outcome))


def _exemplar(span: Span) -> dict[str, str] | None:
    ids = span.get_span_context()
    return {"trace_id": format(ids.trace_id, "032x")} if ids.trace_flags.sampled else None


def _current(span: Span) -> AbstractContextManager[Span]:
    # Exception texts can quote the question: the outcome's name is all a trace may keep.
    return trace.use_span(span, record_exception=False, set_status_on_exception=False)


def server_span(method: str, metadata: Mapping[str, str]) -> Span:
    """The span of an inbound call, below the caller's `traceparent`."""
    return tracer.start_span(
        method,
        context=extract(metadata),
        kind=SpanKind.SERVER,
        attributes={"rpc.system": "grpc", "rpc.method": method},
    )


def activate(span: Span) -> None:
    """Makes `span` current until the task ends; for stream handlers, which may be closed from elsewhere."""
    context.attach(trace.set_span_in_context(span))


def propagated(metadata: tuple[tuple[str, str], ...] = ()) -> tuple[tuple[str, str], ...]:
    """`metadata` with the current span's W3C trace context."""
    carrier: dict[str, str] = {}
    inject(carrier)
    return (*metadata, *carrier.items())
