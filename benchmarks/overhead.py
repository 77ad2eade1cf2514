"""What logs, metrics, traces and the audit trail cost the answer path, as a ratio. Run: make bench-overhead

Real processes and a real Triton with models that compute nothing, so that what is measured weighs most. The
same processes answer with all of it on and off in turn, a few seconds each, so that what else the machine
does meets both alike: what is told is the median over pairs of neighbours, and how sure it is. CPU time per
answer is that of gateway, retrieval and Triton together, their threads that send and write included.
"""

import argparse
import asyncio
import itertools
import os
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from benchmarks.loops import group_spent
from benchmarks.lost import Run, judged, summary
from benchmarks.record import record
from cli import places, ports, services, supervision
from cli.process import Child
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
# Every trace kept; a tenth of the traces kept.
KINDS: Mapping[str, Mapping[str, str]] = {
    "measured": {},
    "sampled": {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"},
}
OURS = ("retrieval", "gateway")
# Spans are sent this often, by default every five seconds, and a run waits for the last of them: what it
# made is paid for in it.
SEND_MS, LAST_SECONDS = 1500, 2.0
SCRAPES = 3  # Prometheus reads the pages in every so manieth run, about as often as by default


@dataclass(frozen=True)
class Stack:
    """Running processes by name, and where the gateway and the pages of metrics are."""

    pids: Mapping[str, int]
    gateway: str
    pages: Sequence[str]

    def switch(self, on: bool) -> None:
        """Has our processes measure, or not."""
        for name in OURS:
            os.kill(self.pids[name], signal.SIGUSR2 if on else signal.SIGUSR1)

    def cpu(self) -> dict[str, float]:
        """CPU seconds of each process so far; Triton's with its model processes."""
        return {name: group_spent(pid) for name, pid in self.pids.items()}


class Sink(BaseHTTPRequestHandler):
    """A collector that takes everything and keeps nothing."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Reads a request and says it is well."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@contextmanager
def collector() -> Iterator[str]:
    """Its address."""
    sink = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    sink.daemon_threads = True
    Thread(target=sink.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{sink.server_port}"
    sink.shutdown()


@asynccontextmanager
async def running(home: Path, triton: TritonServer, kind: str, url: str) -> AsyncIterator[Stack]:
    """The processes of one kind, with the documents in."""
    settings = environ(home, triton, KINDS[kind], url)
    profile = services.profile(Settings.from_environ(settings), settings)
    found = {one.child.name: one for one in profile.services}
    started = [replace(found[name], command=(sys.executable, "-m", "benchmarks.bare", name)) for name in OURS]
    try:
        await supervision.up(started, Terminal(), 120)
        await ingest(settings)
        children = {one.child.name: one.child for one in started} | {"triton": triton.child}
        pids = {name: process.pid for name, child in children.items() if (process := child.running())}
        own = [ports.split(settings[f"RADRAG_{name.upper()}_ADDRESS"]) for name in OURS]
        pages = [f"http://{host}:{port + services.METRICS_ABOVE}/metrics" for host, port in own]
        yield Stack(pids, settings["RADRAG_GATEWAY_ADDRESS"], pages)
    finally:
        await supervision.down([one.child for one in started])


def environ(home: Path, triton: TritonServer, sampling: Mapping[str, str], url: str) -> dict[str, str]:
    """The settings of the processes."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RADRAG_", "OTEL_"))}
    thresholds = home / "thresholds.json"
    thresholds.write_text(THRESHOLDS, encoding="utf-8")
    urls = {f"RADRAG_{role}_URL": triton.grpc for role in ("EMBEDDER", "RERANKER", "GENERATOR")}
    models = {f"RADRAG_{model.removeprefix('null_').upper()}_MODEL": model for model in MODELS}
    return {
        **clean, **urls, **models, **sampling,
        "RADRAG_HOME": str(home),
        "RADRAG_INSECURE_DEV": "true",
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{triton.grpc_port + 10}",
        "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{triton.grpc_port + 11}",
        "RADRAG_THRESHOLDS": str(thresholds),
        "RADRAG_LOG_FORMAT": "json",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_BSP_SCHEDULE_DELAY": str(SEND_MS),
    }  # fmt: skip


async def ingest(settings: Mapping[str, str]) -> None:
    """Publishes some documents; those that are there stay. Raises RuntimeError when that fails."""
    line = (sys.executable, "-m", "cli", "ingest", *map(str, DOCUMENTS), "--topic", "safety", "--approve")
    child = await asyncio.create_subprocess_exec(
        *line, env=dict(settings), cwd=places.ROOT, stdout=asyncio.subprocess.DEVNULL
    )
    if await child.wait():
        raise RuntimeError("the samples could not be published")


async def compared(stack: Stack, pairs: int, answers: int, at_once: int) -> list[tuple[Run, Run]]:
    """Pairs of runs, without and with, every second the other way round. Two that do not count go first."""
    found = []
    async with AsyncClient(stack.gateway) as client:
        for on in (False, True):
            await one(stack, client, answers, at_once, on=on)
        for number in range(pairs):
            order = (False, True) if number % 2 else (True, False)
            scraped = number % SCRAPES == 0
            runs = {on: await one(stack, client, answers, at_once, on=on, scraped=scraped) for on in order}
            found.append((runs[False], runs[True]))
            print(
                *(f"{runs[on].answers_per_second:6.1f}/s {_cpu(runs[on])}" for on in (False, True)), sep="   "
            )
    return found


def _cpu(run: Run) -> str:
    parts = " ".join(f"{name} {value:.2f}" for name, value in run.cpu.items())
    return f"{run.cpu_per_answer:6.2f} ms ({parts})"


async def one(
    stack: Stack, client: AsyncClient, answers: int, at_once: int, *, on: bool, scraped: bool = False
) -> Run:
    """So many answers, so many at once, and what they took."""
    stack.switch(on)
    await asyncio.sleep(0.1)
    before, began = stack.cpu(), time.perf_counter()
    await asyncio.gather(*(ask(client, answers // at_once) for _ in range(at_once)))
    took = time.perf_counter() - began
    if on and scraped:
        for page in stack.pages:
            await asyncio.to_thread(lambda url: urllib.request.urlopen(url).read(), page)
    await asyncio.sleep(LAST_SECONDS)
    spent = {name: value - before[name] for name, value in stack.cpu().items()}
    return Run(answers / took, {name: 1000 * value / answers for name, value in spent.items()})


NUMBERS = itertools.count()


async def ask(client: AsyncClient, often: int) -> None:
    """Streams answers, one after another; no question comes twice."""
    for _ in range(often):
        async for _ in client.stream(f"What is the dose limit for the lens, case {next(NUMBERS)}?"):
            pass


async def measured(home: Path, given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """The figures of each kind that was asked for."""
    figures = {}
    os.environ["OTEL_BSP_SCHEDULE_DELAY"] = str(SEND_MS)  # Triton's too
    with collector() as url:
        triton = TritonServer(Child("triton", home), MODELS, given.port, repository=REPOSITORY, traces=url)
        await triton.start()
        try:
            for kind in given.kind or KINDS:
                async with running(home, triton, kind, url) as stack:
                    pairs = await compared(stack, given.pairs, given.answers, given.at_once)
                figures[kind] = summary(kind, pairs)
                print(kind, figures[kind])
        finally:
            await triton.stop()
    return figures


def main() -> None:
    """Measures, prints, and keeps the result. Exits with status 1 when more is lost than is aimed at."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--pairs", type=int, default=30)
    given.add_argument("--answers", type=int, default=128, help="in a run")
    given.add_argument("--at-once", type=int, default=8)
    given.add_argument("--port", type=int, default=28401)
    given.add_argument("--kind", choices=KINDS, action="append")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as home:
        figures = asyncio.run(measured(Path(home), asked))
    record(RESULT, figures)
    if missed := judged(figures):
        sys.exit("\n".join(missed))


if __name__ == "__main__":
    main()
