"""Measures stages: each a span, a histogram sample, and a line of the running call's recording."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, wraps
from inspect import isasyncgenfunction
from time import perf_counter
from typing import Any, TypeVar

from opentelemetry.trace import Span
from prometheus_client import Histogram

from radrag.telemetry import traces
from radrag.telemetry.metrics import STAGE_DURATION

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
        with measured(stage, durations, attributes) as span, traces.being(span):
            return await function(*args, **kwargs)

    @wraps(function)
    async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        # A span is never current across a yield: the consumer may finish us in another context,
        # where OpenTelemetry cannot detach it.
        with measured(stage, durations, attributes) as span:
            async with aclosing(function(*args, **kwargs)) as items:
                with traces.being(span):
                    first = await anext(items, None)
                if first is not None:
                    span.add_event("first item")
                    yield first
                async for item in items:
                    yield item

    return stream if isasyncgenfunction(function) else call  # type: ignore[return-value]


@contextmanager
def measured(
    stage: str, durations: Histogram = STAGE_DURATION, attributes: Attributes = NONE
) -> Iterator[Span]:
    """A span `radrag.<stage>`, a histogram sample and a line of the recording, whatever the block's end."""
    span = traces.tracer.start_span(f"radrag.{stage}", attributes=dict(attributes))
    started, outcome = perf_counter(), "ok"
    try:
        yield span
    except GeneratorExit:  # the consumer has had enough: no failure
        raise
    except BaseException as error:
        outcome = type(error).__name__
        if isinstance(error, Exception):  # being cancelled is no failure either
            traces.fail(span, outcome)
        raise
    finally:
        _finish(stage, started, outcome, span, durations)


def _finish(stage: str, started: float, outcome: str, span: Span, durations: Histogram) -> None:
    span.set_attribute("radrag.outcome", outcome)
    span.end()
    duration = perf_counter() - started
    # A part of a stage, as a leg of the search, needs no exemplar: that of its stage leads to the same trace.
    exemplar = None if "." in stage else traces.exemplar(span)
    _child(durations, stage, outcome).observe(duration, exemplar)
    recording = _recording.get()
    if recording is not None:
        recording.stages.append(StageTime(stage, started - recording.began, duration, outcome))


@cache
def _child(durations: Histogram, stage: str, outcome: str) -> Histogram:
    """The histogram of a stage and an outcome, both of which are named in our code: there are few."""
    return durations.labels(stage, outcome)
