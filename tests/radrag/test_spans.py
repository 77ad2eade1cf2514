"""Spans are sent as the SDK's own would be, and sampled as the variables say; no collector holds us up."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from cli.places import ROOT
from radrag.telemetry import sending, spans, traces
from tests.otlp import Receiver, receiving

PARENT = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "tracestate": "vendor=1"}
UNSAMPLED = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-00"}
RESOURCE = Resource({"service.name": "one", "service.version": "2"})


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiving() as one:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", one.url)
        yield one


def sent(make: Callable[[Any], object], collector: Receiver) -> list[Any]:
    """The spans that `make` has a tracer of ours make, as they arrive."""
    tracer, close = sending.opened(RESOURCE)
    make(tracer)
    close()
    return decoded(collector.bodies)


def decoded(bodies: list[bytes]) -> list[Any]:
    found = [one for body in bodies for one in ExportTraceServiceRequest.FromString(body).resource_spans]
    return [span for one in found for scope in one.scope_spans for span in scope.spans]


def a_call(tracer: Any) -> None:
    """A call below a caller's span with one failed stage, by the functions that all calls are traced by."""
    call = tracer.start_span(
        "a.v1.A/Ask", extract(PARENT), SpanKind.SERVER, {"rpc.system.name": "grpc", "count": 3}
    )
    stage = tracer.start_span(
        "radrag.embed", set_span_in_context(call), attributes={"share": 0.5, "on": True}
    )
    stage.add_event("first item")
    traces.fail(stage, "ValueError")
    stage.end()
    call.set_status(Status(StatusCode.OK))
    traces.end_call(call, "OK")


def comparable(span: Any, ids: dict[bytes, str]) -> str:
    """A span without what differs from run to run: ids become names, instants go."""
    span.parent_span_id = ids.get(span.parent_span_id, span.parent_span_id.hex()).encode()
    span.ClearField("span_id")
    for timed in ("start_time_unix_nano", "end_time_unix_nano"):
        assert getattr(span, timed) > 1e18
        span.ClearField(timed)
    for event in span.events:
        event.ClearField("time_unix_nano")
    return str(span)


def test_spans_arrive_as_the_sdks_own_would(collector: Receiver) -> None:
    ours = sent(a_call, collector)
    resource = ExportTraceServiceRequest.FromString(collector.bodies[0]).resource_spans[0].resource
    collector.bodies.clear()
    provider = TracerProvider(resource=RESOURCE)
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    a_call(provider.get_tracer("radrag"))
    theirs = decoded(collector.bodies)
    told = [
        [comparable(one, {two.span_id: two.name for two in some}) for one in some] for some in (ours, theirs)
    ]
    assert sorted(told[0]) == sorted(told[1])
    assert len(ours) == 2
    assert resource == ExportTraceServiceRequest.FromString(collector.bodies[0]).resource_spans[0].resource


@pytest.mark.parametrize(
    ("sampler", "share", "carrier", "expected"),
    [
        ("", "", {}, 200),
        ("", "", UNSAMPLED, 0),
        ("parentbased_traceidratio", "0", {}, 0),
        ("parentbased_traceidratio", "0", PARENT, 200),
        ("parentbased_traceidratio", "0.5", {}, None),
        ("always_off", "", PARENT, 0),
        ("always_on", "", UNSAMPLED, 200),
    ],
)
def test_traces_are_sampled_as_the_standard_variables_say(
    monkeypatch: pytest.MonkeyPatch,
    collector: Receiver,
    sampler: str,
    share: str,
    carrier: dict[str, str],
    expected: int | None,
) -> None:
    if sampler:
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", sampler)
        monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", share)

    def make(tracer: Any) -> None:
        for _ in range(100):
            call: Span = tracer.start_span("call", extract(carrier))
            tracer.start_span("stage", set_span_in_context(call)).end()
            call.end()

    found = sent(make, collector)
    if expected is not None:
        assert len(found) == expected
        return
    traces_ = {span.trace_id for span in found}
    assert 20 < len(traces_) < 80
    assert len(found) == 2 * len(traces_), "a trace is kept whole or not at all"


def test_a_step_of_the_clock_bends_no_duration(monkeypatch: pytest.MonkeyPatch, collector: Receiver) -> None:
    def make(tracer: Any) -> None:
        span = tracer.start_span("call")
        monkeypatch.setattr(spans, "time_ns", lambda: 0)
        time.sleep(0.02)
        span.end()

    (found,) = sent(make, collector)
    assert 0.02 <= (found.end_time_unix_nano - found.start_time_unix_nano) / 1e9 < 5


def test_where_tracing_is_disabled_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch, collector: Receiver
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert sent(a_call, collector) == []


A_PROCESS = """
import time
from radrag import telemetry
telemetry.configure("gateway", "json")
began = time.process_time()
for _ in range(20_000):
    telemetry.end_call(telemetry.server_span("a.v1.A/Ask", {}), "OK")
print(time.process_time() - began)
"""


def test_a_configured_process_leaves_no_core_file() -> None:
    """One would hold questions and answers."""
    asks = "import resource as r; from radrag import telemetry as t; r.setrlimit(4, r.getrlimit(4)[1:] * 2);"
    done = subprocess.run(
        [sys.executable, "-c", f"{asks} t.configure('gateway'); print(r.getrlimit(r.RLIMIT_CORE)[0])"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "0\n"


@pytest.mark.parametrize("how", ["refuses", "never answers"])
def test_a_dead_collector_holds_up_neither_calls_nor_the_end(how: str) -> None:
    """Ten times as many spans as wait at most: the rest is dropped, and the log says so."""
    with socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        if how == "never answers":
            dead.listen()
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", A_PROCESS],
            env={"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{dead.getsockname()[1]}", "PATH": ""},
            cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
    assert float(done.stdout) < 2, "a span that is dropped costs no more than one that is sent"
    assert time.monotonic() - began < 30, "the end waits some seconds, not minutes"
    assert done.stderr.count("more are dropped") == 1
