"""The verdict on a load run finds each promise that is not kept, and what processes hold is counted."""

import asyncio
import copy
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import verdict, watching
from benchmarks.asker import Seen

SEEN = {"answered": [1.0] * 100, "codes": {"OK": 100}, "degraded": 0}
LIMIT = verdict.at_limit(SEEN, 10)
FLOOD = {
    "answered": [1.0] * 90 + [1.4] * 10, "refused": [0.04] * 200, "dropped": [0.001] * 100,
    "health": [0.01] * 100, "codes": {"OK": 100, "RESOURCE_EXHAUSTED": 200, "CANCELLED": 100}, "degraded": 0,
    "offered_seconds": 10.0,
}  # fmt: skip
GOOD: dict[str, Any] = {
    "flood": {
        "limit": LIMIT,
        "excess": verdict.excess(FLOOD, LIMIT, {"gateway": 0.01}),
        "after": {"p95_ratio": 1.1},
        "serving_after": True,
    },
    "held": {"running": 500, "alive": 500, "streams": 500, "codes": {}},
    "left": {
        "codes": {"first": {"left": 20}, "rest": {"left": 80}}, "memory_growth": {"gateway": 0.0},
        "files_left": {"gateway": 1}, "tasks_left": {"gateway": 0}, "generator_running": 0.0,
    },
}  # fmt: skip


def put(*path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(figures: dict[str, Any]) -> None:
        *above, last = path
        for name in above:
            figures = figures[name]
        figures[last] = value

    return change


BAD = {
    "nobody is refused at the limit": put(
        "flood", "limit", "codes", value={"OK": 1, "RESOURCE_EXHAUSTED": 1}
    ),
    "four times the sustainable rate was offered": put("flood", "excess", "offered_rate", value=30.0),
    "p95 of the admitted at most 1.5 times that at the limit": put(
        "flood", "excess", "admitted_p95_ratio", value=1.51
    ),
    "p99 of those not admitted at most 5 times a health check's": put(
        "flood", "excess", "not_admitted_p99_ratio", value=5.1
    ),
    "above the limit calls are answered or not admitted, nothing else": put(
        "flood", "excess", "codes", value={"OK": 1, "INTERNAL": 1}
    ),
    "no admitted answer lacks a part": put("flood", "excess", "degraded", value=1),
    "memory is flat under the flood": put("flood", "excess", "memory_growth", value={"gateway": 0.06}),
    "after the flood everything is as before": put("flood", "serving_after", value=False),
    "all streams are held open": put("held", "alive", value=499),
    "who leaves is not refused": put("left", "codes", "rest", value={"left": 1, "UNAVAILABLE": 1}),
    "who leaves leaves no memory": put("left", "memory_growth", value={"triton": 0.1}),
    "who leaves leaves no open files": put("left", "files_left", value={"gateway": 9}),
    "who leaves leaves no tasks": put("left", "tasks_left", value={"gateway": 5}),
    "who leaves leaves no work at the model server": put("left", "generator_running", value=1.0),
}


def test_a_run_that_keeps_all_promises_is_told_so() -> None:
    assert verdict.broken(GOOD) == []
    excess = GOOD["flood"]["excess"]
    assert (excess["admitted_p95_ratio"], excess["not_admitted_p99_ratio"], excess["offered_rate"]) == (
        1.4,
        4.0,
        40.0,
    )


@pytest.mark.parametrize("promise", verdict.PROMISES)
def test_a_promise_that_is_not_kept_is_named_alone(promise: str) -> None:
    figures = copy.deepcopy(GOOD)
    BAD[promise](figures)
    assert verdict.broken(figures) == [f"NOT KEPT: {promise}"]


def test_calls_that_grpc_dropped_stand_apart_from_refusals_and_count_as_not_admitted() -> None:
    seen = Seen()
    for code in ("OK", "RESOURCE_EXHAUSTED", "CANCELLED", "CANCELLED", "INTERNAL"):
        seen.ended(code, 1.0)
    assert (seen.answered, seen.refused, seen.dropped) == ([1.0], [1.0], [1.0, 1.0])
    flood = {**FLOOD, "refused": [], "dropped": [0.04] * 300}
    excess = verdict.excess(flood, LIMIT, {})
    assert (excess["refused"], excess["dropped"], excess["not_admitted_p99_ratio"]) == (0, 300, 4.0)
    assert (excess["refused_p99"], excess["dropped_p99"]) == (None, 0.04)
    assert verdict.not_admitted(excess) == (
        "not admitted: 0 refused by admission (RESOURCE_EXHAUSTED), 300 dropped by gRPC before it (CANCELLED)"
    )


def test_a_process_is_counted_with_what_it_started_and_growth_is_of_its_later_life(tmp_path: Path) -> None:
    (tmp_path / "tasks").write_text("7")
    held = (
        "import time; held = [open('/dev/null') for _ in range(20)], bytearray(b'x' * 30_000_000)\n"
        "print(1, flush=True); time.sleep(60)"
    )
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {held!r}])"
    process = subprocess.Popen([sys.executable, "-c", inner], start_new_session=True, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        process.stdout.readline()
        found = watching.sample(process.pid, tmp_path / "tasks")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert found.memory > 30_000_000
    assert found.files >= 20
    assert found.tasks == 7
    assert watching.grown([1, 1, 100, 100, 100, 100, 110, 110]) == pytest.approx(0.1)


async def test_samples_are_taken_while_the_block_runs() -> None:
    watch = watching.Watch({"us": os.getsid(0)}, {})
    async with watch.watching():
        await asyncio.sleep(0.05)
    assert [one["us"].files > 0 for one in watch.samples] == [True]
