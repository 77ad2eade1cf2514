"""Stages are measured once, whatever their end, and leave no trace context behind."""

import asyncio
import logging
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator

import pytest
from opentelemetry.sdk.trace import sampling
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from prometheus_client import REGISTRY

from cli.places import ROOT
from radrag import telemetry
from radrag.telemetry import metrics, spans, traces
from tests.integration.metrics import added
from tests.ports import free_port


def samples(stage: str, outcome: str) -> float:
    labels = {"stage": stage, "outcome": outcome}
    return REGISTRY.get_sample_value("radrag_stage_duration_seconds_count", labels) or 0.0


async def double(number: int) -> int:
    return 2 * number


async def count(to: int) -> AsyncIterator[int]:
    for number in range(to):
        yield number


async def fail() -> None:
    raise ValueError("secret")


async def test_a_stage_is_measured_and_recorded() -> None:
    recording = telemetry.record_stages()
    assert await telemetry.traced("double", double)(4) == 8
    (stage,) = recording.stages
    assert (stage.name, stage.outcome) == ("double", "ok")
    assert stage.duration >= 0 <= stage.start
    assert samples("double", "ok") == 1


async def test_a_span_and_its_sample_tell_of_one_time_however_long_handing_over_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[spans.Recorded] = []

    def slowly(span: spans.Recorded) -> None:
        ended.append(span)
        time.sleep(0.02)

    monkeypatch.setattr(traces, "tracer", spans.Tracer(sampling.ALWAYS_ON, RandomIdGenerator(), slowly))
    recording = telemetry.record_stages()
    await telemetry.traced("handed over", double)(4)
    assert [one.duration for one in recording.stages] == [span.seconds for span in ended]
    sums = REGISTRY.get_sample_value(
        "radrag_stage_duration_seconds_sum", {"stage": "handed over", "outcome": "ok"}
    )
    assert sums == ended[0].seconds < 0.02


async def test_a_streaming_stage_is_measured_until_its_last_item() -> None:
    assert [n async for n in telemetry.traced("count", count)(3)] == [0, 1, 2]
    assert samples("count", "ok") == 1


async def test_an_empty_stream_is_measured_too() -> None:
    assert [n async for n in telemetry.traced("empty", count)(0)] == []
    assert samples("empty", "ok") == 1


async def test_a_failure_is_named_by_its_kind_only() -> None:
    recording = telemetry.record_stages()
    with pytest.raises(ValueError, match="secret"):
        await telemetry.traced("fail", fail)()
    assert [stage.outcome for stage in recording.stages] == ["ValueError"]


async def test_closing_a_stream_from_another_task_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """OpenTelemetry cannot detach a context in another task than the one that attached it."""
    stream = telemetry.traced("closed", count)(9)
    assert await anext(stream) == 0
    with caplog.at_level(logging.DEBUG):
        await asyncio.create_task(stream.aclose())  # type: ignore[attr-defined]
    assert not caplog.records
    assert samples("closed", "ok") == 1


async def test_stages_of_concurrent_tasks_join_one_recording() -> None:
    recording = telemetry.record_stages()
    work = telemetry.traced("joined", double)
    await asyncio.gather(work(1), work(2))
    assert [stage.name for stage in recording.stages] == ["joined", "joined"]


@pytest.fixture
def page() -> Iterator[tuple[str, int]]:
    """Where metrics are served."""
    port = free_port()
    stop = telemetry.serve_metrics("127.0.0.1", port)
    yield "127.0.0.1", port
    stop()


def read(page: tuple[str, int], accept: str = "text/plain") -> str:
    request = urllib.request.Request(f"http://{page[0]}:{page[1]}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return str(reply.read().decode())


def test_metrics_are_served_in_text_form(page: tuple[str, int]) -> None:
    assert "radrag_stage_duration_seconds" in read(page)


def test_counters_are_there_before_anything_is_counted() -> None:
    """One born with its first event would hide that event from every rate: nobody would be told of it."""
    page = "from prometheus_client import generate_latest as page; print(page().decode())"
    done = subprocess.run(
        [sys.executable, "-c", f"from radrag import telemetry as t; t.configure('gateway'); {page}"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    for series in ('audit_records_total{result="failed"}', 'outcomes_total{outcome="FAILED"}',
                   'degraded_total{what="embedder"}', 'rejected_total{reason="model_queue"}'):  # fmt: skip
        assert f"radrag_{series} 0.0" in done.stdout
    telemetry.expect("a.v1.A/New")
    failed = {"method": "a.v1.A/New", "code": "INTERNAL"}
    assert REGISTRY.get_sample_value("radrag_requests_total", failed) == 0


async def test_exemplars_are_served_to_who_takes_open_metrics(
    page: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tracer = spans.Tracer(sampling.ALWAYS_ON, RandomIdGenerator(), lambda span: None)
    monkeypatch.setattr(traces, "tracer", tracer)
    await telemetry.traced("exemplary", double)(4)
    told = read(page, "application/openmetrics-text")
    assert re.search(r'stage="exemplary".* # {trace_id="[0-9a-f]{32}"} ', told)


def test_the_page_is_read_while_others_hang_on_and_much_is_counted(
    page: tuple[str, int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Connections that say nothing, one that leaves in the middle, and threads that count all the time."""
    monkeypatch.setattr(metrics.Reader, "timeout", 0.5)
    ended = threading.Event()

    def count() -> None:
        while not ended.is_set():
            telemetry.STAGE_DURATION.labels("busy", "ok").observe(0.1)
            time.sleep(0)

    counting = [threading.Thread(target=count) for _ in range(4)]
    idle = [socket.create_connection(page) for _ in range(50)]
    with socket.create_connection(page) as leaving:
        leaving.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    for thread in counting:
        thread.start()
    try:
        seen = [added(read(page), "radrag_stage_duration_seconds_count", {"stage": "busy"}) for _ in range(5)]
    finally:
        ended.set()
        for thread in counting:
            thread.join()
    assert seen == sorted(seen)
    for connection in idle:
        connection.settimeout(20)
        assert connection.recv(1) == b"", "a connection that says nothing is closed"
        connection.close()
    assert "Traceback" not in capfd.readouterr().err
