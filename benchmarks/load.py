"""Whether the service holds under four times what it can do. Run: make bench-load

Real processes and a real Triton with models that compute nothing; the load generator has a core of its own,
all else the others. Four parts: at the admission limit (every place taken, nobody refused), then calls at 4
times the rate that came of it, then many streams held open, then callers who connect and leave. Every figure
is compared with one of the same run; status 1 when a promise of `PROMISES` is not kept.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.overhead import MODELS, REPOSITORY, THRESHOLDS, ingest
from benchmarks.record import record
from benchmarks.verdict import PROMISES, at_limit, broken, excess, not_admitted
from benchmarks.watching import Watch
from cli import health, places, services, supervision
from cli.process import Child
from cli.supervision import Service
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from radrag.settings import Settings

RESULT = places.ROOT / "benchmarks" / "results" / "load.json"
SLOW = "slow_sentences"
OVER = 4.0  # times the sustainable rate
LINGER = 20.0  # seconds in which everything must be back to normal
CONNECT_AT_ONCE, WARM_CYCLES = 16, 0.2  # the share of cycles after which memory is first looked at
Figures = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """Where the services are, what they need, and on which cores they and their askers run."""

    home: Path
    port: int
    triton: TritonServer
    core: int

    def environ(self, **more: str) -> dict[str, str]:
        """The settings of the services; the defaults where nothing is said here."""
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("RADRAG_", "OTEL_"))
        }
        thresholds = self.home / "thresholds.json"
        thresholds.write_text(THRESHOLDS, encoding="utf-8")
        urls = {f"RADRAG_{role}_URL": self.triton.grpc for role in ("EMBEDDER", "RERANKER", "GENERATOR")}
        models = {f"RADRAG_{one.removeprefix('null_').upper()}_MODEL": one for one in MODELS}
        ours = {
            "RADRAG_HOME": str(self.home),
            "RADRAG_INSECURE_DEV": "true",
            "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{self.port + 10}",
            "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{self.port + 11}",
            "RADRAG_THRESHOLDS": str(thresholds),
            "RADRAG_LOG_FORMAT": "json",
        }
        return clean | urls | models | ours | more

    @property
    def address(self) -> str:
        """Of the gateway."""
        return f"127.0.0.1:{self.port + 10}"

    @property
    def health(self) -> str:
        """Of its health port."""
        return f"127.0.0.1:{self.port + 10 + health.HEALTH_ABOVE}"

    async def asked(self, way: str, **said: object) -> Figures:
        """What the load generator saw. Raises RuntimeError when it failed."""
        line = json.dumps({"way": way, "address": self.address, "health": self.health, **said})
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.asker", line),
            cwd=places.ROOT,
            stdout=asyncio.subprocess.PIPE,
        )
        os.sched_setaffinity(process.pid, {self.core})
        out, _ = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"the load generator ended with {process.returncode}")
        seen: Figures = json.loads(out)
        return seen

    @asynccontextmanager
    async def up(self, first: bool = False, **settings: str) -> AsyncIterator[Watch]:
        """Retrieval and gateway with these settings, watched."""
        environ = self.environ(**settings)
        profile = services.profile(Settings.from_environ(environ), environ)
        found = {one.child.name: one for one in profile.services}
        tasks = {name: self.home / f"{name}.tasks" for name in ("retrieval", "gateway")}
        started = [_counted(found[name], file) for name, file in tasks.items()]
        await supervision.up(started, Terminal(), 120)
        try:
            if first:
                await ingest(environ)
            children = [self.triton.child, *(one.child for one in started)]
            yield Watch({one.name: known.pid for one in children if (known := one.running())}, tasks)
        finally:
            await supervision.down([one.child for one in started])


def _counted(service: Service, file: Path) -> Service:
    return replace(service, command=(sys.executable, "-m", "benchmarks.tasks", service.child.name, str(file)))


async def flooded(bench: Bench, given: argparse.Namespace) -> Figures:
    """At the limit, above it, at the limit again."""
    places_ = Settings().max_in_flight + Settings().max_waiting
    async with bench.up() as watch:
        await bench.asked("closed", at_once=places_, seconds=given.warm)
        before = await bench.asked("closed", at_once=places_, seconds=given.at_limit)
        limit = at_limit(before, given.at_limit)
        async with watch.watching():
            seen = await bench.asked("open", rate=OVER * limit["rate"], seconds=given.seconds)
        await asyncio.sleep(LINGER / 4)
        after = at_limit(await bench.asked("closed", at_once=places_, seconds=given.at_limit), given.at_limit)
        return {
            "limit": limit,
            "excess": excess(seen, limit, watch.growth()),
            "after": {**after, "p95_ratio": round(after["p95"] / limit["p95"], 3)},
            "serving_after": await health.serving(bench.address),
        }


async def held(bench: Bench, given: argparse.Namespace) -> Figures:
    """Many streams open at once."""
    room = str(given.streams + 12)
    async with bench.up(RADRAG_GENERATOR_MODEL=SLOW, RADRAG_MAX_IN_FLIGHT=room) as watch:
        async with watch.watching():
            seen = await bench.asked("held", count=given.streams, seconds=given.hold)
        most = max(one["gateway"].tasks for one in watch.samples)
        return {**seen, "streams": given.streams, "tasks_of_the_gateway": most}


async def left(bench: Bench, given: argparse.Namespace) -> Figures:
    """Callers who connect and leave; what is still held when the last has gone."""
    warm = round(given.cycles * WARM_CYCLES)
    async with bench.up(RADRAG_GENERATOR_MODEL=SLOW) as watch:
        first = await bench.asked("left", cycles=warm, at_once=CONNECT_AT_ONCE)
        await asyncio.sleep(LINGER)
        before = watch.now()
        rest = await bench.asked("left", cycles=given.cycles - warm, at_once=CONNECT_AT_ONCE, first=warm)
        await asyncio.sleep(LINGER)
        after = watch.now()
        return {
            "cycles": given.cycles,
            "codes": {"first": first["codes"], "rest": rest["codes"]},
            "memory_growth": {
                name: round(one.memory / before[name].memory - 1, 4) for name, one in after.items()
            },
            "files_left": {name: one.files - before[name].files for name, one in after.items()},
            "tasks_left": {name: one.tasks - before[name].tasks for name, one in after.items() if one.tasks},
            "generator_running": await asyncio.to_thread(running, bench.triton),
        }


def running(triton: TritonServer) -> float:
    """Streams that the slow generator still writes, by its own gauge."""
    with urllib.request.urlopen(f"http://{triton.metrics}/metrics", timeout=5) as page:
        lines = page.read().decode().splitlines()
    return sum(float(one.split()[-1]) for one in lines if one.startswith(f'{SLOW}{{state="running"'))


async def measured(home: Path, given: argparse.Namespace) -> Figures:
    """All four parts that were asked for."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("the load generator needs a core of its own: this machine gives one in all")
    os.sched_setaffinity(0, cores[:-1])  # all that is started from here on
    models = (*MODELS, SLOW)
    triton = TritonServer(Child("triton", home), models, given.port, repository=REPOSITORY)
    await triton.start()
    parts = {"flood": flooded, "held": held, "left": left}
    figures: Figures = {}
    bench = Bench(home, given.port, triton, cores[-1])
    try:
        async with bench.up(first=True):
            pass  # every part needs documents to answer from
        for name in given.parts:
            figures[name] = await parts[name](bench, given)
            print(json.dumps({name: figures[name]}, indent=2), flush=True)
    finally:
        await triton.stop()
    return figures


def main() -> int:
    """Measures, says which promises are kept, and keeps the result."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--seconds", type=float, default=60.0, help="of four times the sustainable rate")
    given.add_argument("--at-limit", type=float, default=20.0, help="seconds at the admission limit")
    given.add_argument("--warm", type=float, default=10.0, help="seconds before")
    given.add_argument("--streams", type=int, default=500)
    given.add_argument("--hold", type=float, default=30.0, help="seconds that the streams stay open")
    given.add_argument("--cycles", type=int, default=10_000, help="of connecting and leaving")
    given.add_argument("--parts", nargs="+", default=["flood", "held", "left"])
    given.add_argument("--port", type=int, default=28801)
    given.add_argument("--result", type=Path, default=RESULT)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as home:
        figures = asyncio.run(measured(Path(home), asked))
    record(asked.result, figures)
    if "flood" in figures:
        print(not_admitted(figures["flood"]["excess"]))
    faults = broken(figures)
    looked_at = [name for name, (part, _) in PROMISES.items() if part in figures]
    print(*(faults or [f"all of {len(looked_at)} promises kept"]), sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
