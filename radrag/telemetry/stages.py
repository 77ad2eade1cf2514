"""Measures stages: each a span, a histogram sample, and a line of the running call's recording."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from inspect import isasyncgenfunction
from time import perf_counter
from typing import Any, TypeVar

from opentelemetry.trace import Span
from prometheus_client import Histogram

from radrag.telemetry import spans, traces
from radrag.telemetry.metrics import STAGE_DURATION, child

F = TypeVar("F", bound=Callable[..., Any])
Attributes = Mapping[str, str | int | float]
NONE: Attributes = {}


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


def record_stages() -> Recording:
    """Starts a recording for the current task and the tasks it starts; `traced` stages join it."""
    recording = Recording()
    _recording.set(recording)
    return recording


def recorded() -> list[StageTime]:
    """The stages of the running call so far."""
    recording = _recording.get()
    return recording.stages if recording else []


def traced(
    stage: str, function: F, durations: Histogram = STAGE_DURATION, attributes: Attributes = NONE
) -> F:
    """Wraps an async function, or an async generator, in a span and a duration measurement."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with Measured(stage, durations, attributes, current=True):
            return await function(*args, **kwargs)

    @wraps(function)
    async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        # A span is never current across a yield: the consumer may finish us in another context,
        # where OpenTelemetry cannot detach it.
        with Measured(stage, durations, attributes) as span:
            async with aclosing(function(*args, **kwargs)) as items:
                with traces.being(span):
                    first = await anext(items, None)
                if first is not None:
                    span.add_event("first item")
                    yield first
                async for item in items:
                    yield item

    return stream if isasyncgenfunction(function) else call  # type: ignore[return-value]


class Measured:
    """A block as a span `radrag.<stage>`, a histogram sample and a line of the recording, whatever its end.

    With `current` the span is the current one in the block.
    """

    __slots__ = ("_current", "_durations", "_span", "_stage", "_started")

    def __init__(
        self,
        stage: str,
        durations: Histogram = STAGE_DURATION,
        attributes: Attributes = NONE,
        *,
        current: bool = False,
    ) -> None:
        self._stage, self._durations = stage, durations
        self._span = traces.tracer.start_span(f"radrag.{stage}", attributes=attributes)
        self._current = spans.current.set(self._span) if current else None
        self._started = perf_counter()

    def __enter__(self) -> Span:
        return self._span

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._current:
            spans.current.reset(self._current)
        # Who closes a stream has had enough: no failure. Being cancelled is none either.
        outcome = "ok" if kind is None or kind is GeneratorExit else kind.__name__
        if kind and issubclass(kind, Exception):
            traces.fail(self._span, outcome)
        _finish(self._stage, self._started, outcome, self._span, self._durations)


def _finish(stage: str, started: float, outcome: str, span: Span, durations: Histogram) -> None:
    span.set_attribute("radrag.outcome", outcome)
    span.end()
    # One clock for both, so that a histogram and a trace never tell two stories of one stage.
    duration = span.seconds if isinstance(span, spans.Recorded) else perf_counter() - started
    # A part of a stage, as a leg of the search, needs no exemplar: that of its stage leads to the same trace.
    exemplar = None if "." in stage else traces.exemplar(span)
    child(durations, stage, outcome).observe(duration, exemplar)
    recording = _recording.get()
    if recording is not None:
        recording.stages.append(StageTime(stage, started - recording.began, duration, outcome))
