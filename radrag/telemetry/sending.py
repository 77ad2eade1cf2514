"""Sends spans as OTLP over HTTP: the SDK's exporter and batch processor, with an encoder of our own."""

import logging
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct
from threading import Event, Thread

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, SpanFlags
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Encoded
from opentelemetry.proto.trace.v1.trace_pb2 import Status as EncodedStatus
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import INVALID_SPAN_CONTEXT, NoOpTracer, SpanKind
from opentelemetry.util.types import AttributeValue

from radrag.telemetry.spans import Recorded, Silent, Tracer

log = logging.getLogger(__name__)

SCOPE = InstrumentationScope(name="radrag")
KINDS = {
    SpanKind.INTERNAL: Encoded.SPAN_KIND_INTERNAL,
    SpanKind.SERVER: Encoded.SPAN_KIND_SERVER,
    SpanKind.CLIENT: Encoded.SPAN_KIND_CLIENT,
}
LOCAL = SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
REMOTE = LOCAL | SpanFlags.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
# What is each span's own, as the protocol writes it: field, then value; trace, id, start, end, flags.
OWN = Struct("<2s16s2s8ssQsQ2sI")
# What is still unsent at the end of a process may hold it up for so long: a dead collector must not.
LAST_SECONDS = 3.0


class Exporter(OTLPSpanExporter):
    """The SDK's, for spans of ours: the standard variables, retries and transport are its own."""

    def __init__(self, resource: Resource) -> None:
        super().__init__()
        nothing = ReadableSpan("", INVALID_SPAN_CONTEXT, resource=resource)
        self._resource = encode_spans([nothing]).resource_spans[0].resource
        self.ended = 0  # spans that were sent, or given up

    def export(self, spans: Sequence[Recorded]) -> SpanExportResult:  # type: ignore[override]
        """Sends a batch."""
        told = ScopeSpans(scope=SCOPE)
        for span in spans:
            encode(span, told)
        resource = ResourceSpans(resource=self._resource, scope_spans=[told])
        request = ExportTraceServiceRequest(resource_spans=[resource])
        try:
            sent = self._client.export(request.SerializeToString())
        finally:
            self.ended += len(spans)
        return SpanExportResult.SUCCESS if sent.success else SpanExportResult.FAILURE


class Outbox:
    """Where ended spans wait to be sent. When it is full more are dropped, and one line says so.

    The batch processor would do the same with a warning for each span, which costs more than the span did.
    """

    def __init__(self, processor: BatchSpanProcessor, exporter: Exporter, most: int) -> None:
        self._processor, self._exporter, self._most = processor, exporter, most
        self._given = 0
        self._full = False

    def put(self, span: Recorded) -> None:
        """Takes a span, or drops it."""
        if self._given - self._exporter.ended < self._most:
            self._given += 1
            self._full = False
            self._processor.on_end(span)  # type: ignore[arg-type]
        elif not self._full:
            self._full = True
            log.warning("the collector does not take spans: %d wait, more are dropped", self._most)


def encode(span: Recorded, into: ScopeSpans) -> None:
    """Adds a span as it is sent. What many spans share is encoded once, and merged in as it is."""
    ids, parent, status = span.context, span.parent, span.status
    said = tuple(span.attributes.items())
    added = into.spans.add()
    added.MergeFromString(
        OWN.pack(
            b"\n\x10", ids.trace_id.to_bytes(16, "big"), b"\x12\x08", ids.span_id.to_bytes(8, "big"),
            b"9", span.started, b"A", span.ended,
            b"\x85\x01", REMOTE if parent.is_remote else LOCAL,
        )
        + _shared(span.name, span.kind, status.status_code.value, status.description, said)
    )  # fmt: skip
    if parent.is_valid:
        added.parent_span_id = parent.span_id.to_bytes(8, "big")
    for name, at in span.events:
        added.events.add(name=name, time_unix_nano=at)
    if ids.trace_state:
        added.trace_state = ids.trace_state.to_header()


@lru_cache(maxsize=1024)
def _shared(
    name: str,
    kind: SpanKind,
    code: int,
    description: str | None,
    attributes: tuple[tuple[str, AttributeValue], ...],
) -> bytes:
    return Encoded(
        name=name,
        kind=KINDS[kind],
        status=EncodedStatus(code=code, message=description or ""),  # type: ignore[arg-type]  # the same numbers
        attributes=[KeyValue(key=key, value=_value(value)) for key, value in attributes],
    ).SerializeToString()


def _value(value: AttributeValue) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(string_value=str(value))


def opened(resource: Resource) -> tuple[Tracer | Silent, Callable[[], None]]:
    """What makes spans and has them sent, as the standard variables want it; and what ends it.

    The end sends what is left, and waits no longer than LAST_SECONDS for a collector that does not answer.
    """
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    if isinstance(provider.get_tracer("radrag"), NoOpTracer):  # OTEL_SDK_DISABLED
        return Silent(), lambda: None
    most = int(os.environ.get("OTEL_BSP_MAX_QUEUE_SIZE", "2048"))
    exporter = Exporter(provider.resource)
    processor = BatchSpanProcessor(exporter, max_queue_size=most)
    outbox = Outbox(processor, exporter, most)
    tracer = Tracer(provider.sampler, provider.id_generator, outbox.put)
    return tracer, _bounded(processor.shutdown, LAST_SECONDS)


def _bounded(end: Callable[[], None], seconds: float) -> Callable[[], None]:
    """`end` from a thread that waits for it already: at a process's exit none can be started."""
    asked = Event()

    def ending() -> None:
        asked.wait()
        end()

    thread = Thread(target=ending, name="last spans", daemon=True)
    thread.start()

    def bounded() -> None:
        asked.set()
        thread.join(seconds)

    return bounded
