"""What logs, metrics, traces and the audit trail cost the answer path, as a ratio. Run: make bench-overhead

Real processes and a real Triton with models that compute nothing, so that what is measured weighs most. Runs
with and without alternate; CPU time per answer is said too, since it does not depend on what else the machine
does.
"""

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from benchmarks.record import record
from cli import places, services, supervision
from cli.process import Child
from cli.supervision import Service
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from radrag.client import AsyncClient
from radrag.settings import Settings

MODELS = ("null_embedder", "null_reranker", "null_generator")
REPOSITORY = places.ROOT / "tests" / "integration" / "models"
# Few, so that the search weighs little too: what is measured is the share of measuring.
DOCUMENTS = sorted((places.ROOT / "samples" / "documents" / "safety").glob("*.md"))
RESULT = places.ROOT / "benchmarks" / "results" / "observability_overhead.json"
THRESHOLDS = '{"calibrated": true, "rerank": {"null_reranker": {"score": 0.5}}, "degraded": {}}'
# Everything measured and every trace kept; a tenth of the traces kept; nothing measured.
KINDS = ("measured", "sampled", "bare")
TENTH = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Run:
    """One run: answers per second, and CPU seconds per answer of gateway, retrieval and Triton together."""

    answers_per_second: float
    cpu_per_answer: float


class Sink(BaseHTTPRequestHandler):
    """A collector that takes everything and keeps nothing."""

    def do_POST(self) -> None:
        """Reads a request and says it is well."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Says nothing."""


async def compared(home: Path, pairs: int, seconds: float, at_once: int, port: int) -> dict[str, list[Run]]:
    """Alternating runs of each kind, after a first one that does not count."""
    sink = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    Thread(target=sink.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{sink.server_port}"
    triton = TritonServer(Child("triton", home), MODELS, port, repository=REPOSITORY, traces=url)
    await triton.start()
    found: dict[str, list[Run]] = {kind: [] for kind in KINDS}
    try:
        for number, kind in itertools.product(range(pairs + 1), found):
            settings = environ(home, triton.grpc, port, kind, url)
            run = await one(settings, kind, triton, seconds if number else 5.0, at_once, first=not number)
            if number:
                found[kind].append(run)
                print(f"{kind:9} {run.answers_per_second:7.1f}/s  {run.cpu_per_answer * 1000:6.2f} ms CPU")
    finally:
        await triton.stop()
        sink.shutdown()
    return found


def environ(home: Path, triton: str, port: int, kind: str, collector: str) -> dict[str, str]:
    """The settings of one kind of run."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RADRAG_", "OTEL_"))}
    thresholds = home / "thresholds.json"
    thresholds.write_text(THRESHOLDS, encoding="utf-8")
    urls = {f"RADRAG_{role}_URL": triton for role in ("EMBEDDER", "RERANKER", "GENERATOR")}
    models = {f"RADRAG_{model.removeprefix('null_').upper()}_MODEL": model for model in MODELS}
    traced = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, **(TENTH if kind == "sampled" else {})}
    measured = {"RADRAG_AUDIT": "off"} if kind == "bare" else traced
    ours = {
        "RADRAG_HOME": str(home),
        "RADRAG_INSECURE_DEV": "true",
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{port + 10}",
        "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{port + 11}",
        "RADRAG_THRESHOLDS": str(thresholds),
        "RADRAG_LOG_FORMAT": "json",
    }
    return clean | urls | models | measured | ours


async def one(
    settings: Mapping[str, str], kind: str, triton: TritonServer, seconds: float, at_once: int, *, first: bool
) -> Run:
    """Starts the processes, loads them, and says what they took."""
    found = {
        one.child.name: one for one in services.profile(Settings.from_environ(settings), settings).services
    }
    started = [_as(found[name], kind) for name in ("retrieval", "gateway")]
    await supervision.up(started, Terminal(), 60)
    try:
        if first and kind == "measured":
            await ingest(settings)
        pids = [process.pid for one in started if (process := one.child.running())]
        running = triton.child.running()
        before = cpu(pids, running.pid if running else 0)
        answers, took = await load(settings["RADRAG_GATEWAY_ADDRESS"], seconds, at_once)
        spent = cpu(pids, running.pid if running else 0) - before
    finally:
        await supervision.down([one.child for one in started])
    return Run(answers / took, spent / answers)


def _as(service: Service, kind: str) -> Service:
    if kind != "bare":
        return service
    return replace(service, command=(sys.executable, "-m", "benchmarks.bare", service.child.name))


async def ingest(settings: Mapping[str, str]) -> None:
    """Publishes some documents. Raises RuntimeError when that fails."""
    line = (sys.executable, "-m", "cli", "ingest", *map(str, DOCUMENTS), "--topic", "safety", "--approve")
    child = await asyncio.create_subprocess_exec(
        *line, env=dict(settings), cwd=places.ROOT, stdout=asyncio.subprocess.DEVNULL
    )
    if await child.wait():
        raise RuntimeError("the samples could not be published")


async def load(address: str, seconds: float, at_once: int) -> tuple[int, float]:
    """Streams answers, so many at once, for so long; how many came, and in what time."""
    numbers, began = itertools.count(), time.monotonic()
    answers = 0

    async def asker(client: AsyncClient) -> None:
        nonlocal answers
        while time.monotonic() - began < seconds:
            async for _ in client.stream(f"What is the dose limit for the lens, case {next(numbers)}?"):
                pass
            answers += 1

    async with AsyncClient(address) as client:
        await asyncio.gather(*(asker(client) for _ in range(at_once)))
    return answers, time.monotonic() - began


def cpu(pids: Sequence[int], group: int) -> float:
    """CPU seconds of the processes, and of all in a process group."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) in pids or int(fields[2]) == group:
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def main() -> None:
    """Measures, prints, and keeps the result."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--pairs", type=int, default=4)
    given.add_argument("--seconds", type=float, default=20.0)
    given.add_argument("--at-once", type=int, default=8)
    given.add_argument("--port", type=int, default=38401)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found = asyncio.run(compared(Path(home), asked.pairs, asked.seconds, asked.at_once, asked.port))
    figures = summary(found)
    record(RESULT, figures)
    print(figures)


def summary(found: Mapping[str, Sequence[Run]]) -> dict[str, float]:
    """Medians of each kind, and by what share measuring lowers throughput: by the clock, and by CPU time."""
    rate = {kind: statistics.median(run.answers_per_second for run in runs) for kind, runs in found.items()}
    spent = {kind: statistics.median(run.cpu_per_answer for run in runs) for kind, runs in found.items()}
    figures = {f"answers_per_second_{kind}": round(value, 2) for kind, value in rate.items()}
    figures |= {f"cpu_ms_per_answer_{kind}": round(value * 1000, 3) for kind, value in spent.items()}
    for kind in ("measured", "sampled"):
        figures[f"throughput_lost_{kind}"] = round(1 - rate[kind] / rate["bare"], 4)
        figures[f"throughput_lost_by_cpu_{kind}"] = round(1 - spent["bare"] / spent[kind], 4)
    return figures


if __name__ == "__main__":
    main()
