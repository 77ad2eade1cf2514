"""The scale plan: servers from the queueing simulation, GPUs from what one answers."""

import json
import subprocess
import sys
import time

from benchmarks import scaling
from cli.places import ROOT

PLAN = (ROOT / "deploy" / "SCALING.md").read_text(encoding="utf-8")


def test_gpus_are_enough_and_one_more() -> None:
    assert scaling.gpus(36) == {"generator": 5, "reranker": 2, "embedder": 2}
    assert scaling.gpus(37)["reranker"] == 3


def test_the_plan_has_every_table_as_the_command_prints_it_and_says_when_it_was_measured() -> None:
    for table in scaling.tables():
        assert f"\n\n{table}\n\n" in PLAN, table
    kept = json.loads(scaling.RESULT.read_text(encoding="utf-8"))
    machine = kept["machine"]
    assert f"measured {kept['at'][:10]}; {machine['processor']}, {machine['cores']} cores" in PLAN


def test_a_role_that_costs_more_gets_more_servers() -> None:
    costs = {"embed a question": 0.01, "rerank 13 parents": 0.2, "quote from 5 parents": 0.1}
    first, *_, last = scaling.plan(costs).splitlines()[2:]
    assert first.startswith("| 1 | 1 | 1 | 1 |")
    embedder, reranker, generator = map(int, last.split("|")[2:5])
    assert embedder < generator < reranker
    assert 1000 * 0.2 / reranker <= 0.7


def test_cpu_seconds_are_those_of_the_process_group() -> None:
    line = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(line, start_new_session=True) as busy:
        until = time.monotonic() + 30
        while scaling.spent(busy.pid) < 0.2:
            assert time.monotonic() < until
            time.sleep(0.05)
        busy.kill()
    assert scaling.spent(busy.pid) == 0
