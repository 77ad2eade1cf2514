"""Stages are measured once, whatever their end, and leave no trace context behind."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY

from radrag import telemetry


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


def test_metrics_are_served_in_text_form() -> None:
    import socket
    import urllib.request

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    stop = telemetry.serve_metrics("127.0.0.1", port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as reply:
            assert b"radrag_stage_duration_seconds" in reply.read()
    finally:
        stop()
