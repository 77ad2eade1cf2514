"""Spans at a tenth of the SDK's price; its sampler, its batch processor and the standard variables stay.

An answer has more than thirty spans. Made and encoded by the SDK's classes, they took a tenth of an answer's
CPU time with models that compute nothing (`make bench-overhead`). Left out is what we never use: links,
limits, recorded exceptions, processors at a span's start.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from time import perf_counter_ns, time_ns

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision, Sampler
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    get_current_span,
)
from opentelemetry.util.types import Attributes, AttributeValue

NONE: Mapping[str, AttributeValue] = {}
UNSET = Status()
# The span that is running. OpenTelemetry's own context is a dictionary that is copied for each change.
current: ContextVar[Span] = ContextVar("radrag_span", default=INVALID_SPAN)


class Recorded(Span):
    """A span of a sampled trace.

    `started` and `ended` in nanoseconds since 1970; `ended` is reckoned by a clock that only goes on, so that
    a step of the system's clock bends no duration.
    """

    __slots__ = (
        "_began", "_done", "attributes", "context", "ended", "events", "kind", "name", "parent", "started",
        "status",
    )  # fmt: skip

    def __init__(  # noqa: PLR0917  made in one place, thirty times an answer
        self,
        name: str,
        context: SpanContext,
        parent: SpanContext,
        kind: SpanKind,
        attributes: Mapping[str, AttributeValue],
        done: Callable[["Recorded"], None],
    ) -> None:
        self.name, self.context, self.parent, self.kind = name, context, parent, kind
        self.attributes, self.status = dict(attributes), UNSET
        self.events: list[tuple[str, int]] = []
        self.started, self._began, self.ended, self._done = time_ns(), perf_counter_ns(), 0, done

    def end(self, end_time: int | None = None) -> None:
        """Hands the span over for sending, once."""
        if not self.ended:
            self.ended = end_time or self._now()
            self._done(self)

    @property
    def seconds(self) -> float:
        """How long it took, once it has ended."""
        return (self.ended - self.started) / 1e9

    def _now(self) -> int:
        return self.started + perf_counter_ns() - self._began

    def get_span_context(self) -> SpanContext:
        """Its ids."""
        return self.context

    def set_attribute(self, key: str, value: AttributeValue) -> None:
        """Says more of it."""
        self.attributes[key] = value

    def set_attributes(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Says more of it."""
        self.attributes.update(attributes)

    def add_event(self, name: str, attributes: Attributes = None, timestamp: int | None = None) -> None:
        """Marks an instant. Attributes of events are not kept: nothing of ours has any."""
        self.events.append((name, timestamp or self._now()))

    def update_name(self, name: str) -> None:
        """Calls it otherwise."""
        self.name = name

    def is_recording(self) -> bool:
        """Whether it takes more."""
        return not self.ended

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        """Says how it ended."""
        self.status = status if isinstance(status, Status) else Status(status, description)

    def record_exception(self, exception: BaseException, *_: object, **__: object) -> None:
        """Keeps nothing: an exception's text may quote a question."""


class Silent:
    """Makes no spans: what is current, or came from a caller, goes on as it is."""

    def start_span(
        self,
        name: str,
        context: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, AttributeValue] = NONE,
    ) -> Span:
        """The span above."""
        above = current.get() if context is None else get_current_span(context)
        return above if isinstance(above, NonRecordingSpan) else NonRecordingSpan(above.get_span_context())


class Tracer:
    """Makes spans, and hands those of sampled traces to `done` when they end.

    The sampler is asked where a trace enters the process; what is below goes with it.
    """

    def __init__(self, sampler: Sampler, ids: IdGenerator, done: Callable[[Recorded], None]) -> None:
        self._sampler, self._ids, self._done = sampler, ids, done

    def start_span(
        self,
        name: str,
        context: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, AttributeValue] = NONE,
    ) -> Span:
        """A span below the one in `context`, by default the current one."""
        above = current.get() if context is None else get_current_span(context)
        parent = above.get_span_context()
        if isinstance(above, Recorded):  # as nearly all: below one of ours
            trace_id, _, _, flags, state, _ = parent
            ids = SpanContext(trace_id, self._ids.generate_span_id(), False, flags, state)
            return Recorded(name, ids, parent, kind, attributes, self._done)
        ids = self._ids_of(name, context, parent)
        if not ids.trace_flags.sampled:
            return NonRecordingSpan(ids)
        return Recorded(name, ids, parent, kind, attributes, self._done)

    def _ids_of(self, name: str, context: Context | None, parent: SpanContext) -> SpanContext:
        span_id = self._ids.generate_span_id()
        if parent.is_valid and not parent.is_remote:
            return SpanContext(parent.trace_id, span_id, False, parent.trace_flags, parent.trace_state)
        trace_id = parent.trace_id if parent.is_valid else self._ids.generate_trace_id()
        decided = self._sampler.should_sample(context, trace_id, name, SpanKind.SERVER)
        others = parent.trace_flags & ~TraceFlags.SAMPLED if parent.is_valid else TraceFlags.DEFAULT
        taken = TraceFlags.SAMPLED if decided.decision is Decision.RECORD_AND_SAMPLE else 0
        return SpanContext(trace_id, span_id, False, TraceFlags(others | taken), decided.trace_state)
