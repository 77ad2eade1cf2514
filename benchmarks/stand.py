"""What the path's benchmark runs: Triton, retrieval and gateway as real processes, and a made-up index.

Three kinds. `null`: models that compute nothing, so that what is left is our own cost. `cpu`: the profile as
shipped. `peers`: its embedder alone, and nothing that reranks.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from grpc import aio

from benchmarks import corpus
from benchmarks.corpus import Made
from cli import places, services, supervision
from cli.process import Child
from cli.supervision import Service
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from radrag.settings import Settings
from radrag.triton import ModelServer

NULL = ("null_embedder", "null_reranker", "null_generator", "null_words")
RERANKER = "lexical_late_interaction"
FORGETFUL = (RERANKER, "extractive")
KEPT = re.compile(r'("recent_megabytes".*?string_value: ")\d+(")')
CPU = ("e5_small", RERANKER, "extractive")
MODELS = {"null": NULL, "cpu": CPU, "peers": ("e5_small", "null_reranker", "null_generator")}
THRESHOLDS = '{"calibrated": true, "rerank": {"null_reranker": {"score": 0.5}}, "degraded": {}}'
REPOSITORIES = (places.MODEL_REPOSITORY, places.ROOT / "tests" / "integration" / "models")
ROLES = ("EMBEDDER", "RERANKER", "GENERATOR")
SAMPLES = places.ROOT / "var" / "samples" / "manifest.yaml"
PASSAGES_A_MESSAGE = 200


@dataclass(frozen=True)
class Stand:
    """Running processes: their addresses, their pids, and how to start more of them."""

    home: Path
    environ: Mapping[str, str]
    triton: TritonServer
    models: Sequence[str]
    pids: dict[str, int]

    @property
    def gateway(self) -> str:
        """host:port."""
        return self.environ["RADRAG_GATEWAY_ADDRESS"]

    @property
    def retrieval(self) -> str:
        """host:port."""
        return self.environ["RADRAG_RETRIEVAL_ADDRESS"]

    def service(self, name: str, environ: Mapping[str, str]) -> Service:
        """One of our services with other settings, not started."""
        return _services(environ, (name,))[0]


@asynccontextmanager
async def standing(
    kind: str, home: Path, port: int, children: int, more: Mapping[str, str] | None = None
) -> AsyncIterator[Stand]:
    """Everything up, with `children` made-up children in the index (and the samples, for `cpu`).

    `port` is Triton's gRPC port; the next twenty and those 100 and 200 above are used too.
    """
    models = MODELS[kind]
    triton = TritonServer(Child("triton", home), models, port, repository=repository_of(home, models))
    await triton.start(300)
    try:
        environ = {**_environ(kind, home, triton.grpc, port), **(more or {})}
        started = _services(environ, ("retrieval", "gateway"))
        await supervision.up(started, Terminal(), 120)
        try:
            if kind == "cpu":
                await ingested(environ, "--manifest", str(SAMPLES), "--approve")
            if children:
                await publish(environ["RADRAG_RETRIEVAL_ADDRESS"], triton.grpc, models[0], children)
                await _restarted(started)  # what a start does to an index is done, and the gateway knows it
            pids = {one.child.name: running.pid for one in started if (running := one.child.running())}
            yield Stand(home, environ, triton, models, pids)
        finally:
            await supervision.down([one.child for one in started])
    finally:
        await triton.stop()


async def publish(address: str, triton: str, embedder: str, children: int) -> None:
    """Publishes made-up documents for this embedder, made as the index's others where it has some."""
    async with aio.insecure_channel(address) as channel:
        stub = RetrievalServiceStub(channel)
        described: wire.DescribeResponse = await stub.Describe(wire.DescribeRequest())
        made_by = described.fingerprint if described.generation else await _fingerprint(triton, embedder)
        for one in corpus.documents(children, made_by.embedder.dimension):
            await stub.IndexDocument(_messages(one, made_by))


async def _fingerprint(triton: str, embedder: str) -> wire.Fingerprint:
    server = ModelServer(triton, "embedder")
    said = await server.parameters(embedder)
    await server.close()
    own = wire.QueryEmbedder(
        name=embedder, weights_sha256=said["weights_sha256"], dimension=int(said["dimension"])
    )
    return wire.Fingerprint(
        embedder=own,
        normalized=True,
        pooling=said["pooling"],
        query_prefix=said["prefix_query"],
        document_prefix=said["prefix_document"],
        tokenizer_sha256=said["tokenizer_sha256"],
        chunking="parent_child",
        max_parent_tokens=1800,
        max_child_tokens=512,
        min_child_characters=900,
    )


def _messages(one: Made, made_by: wire.Fingerprint) -> Iterator[wire.IndexDocumentRequest]:
    header = wire.IndexDocumentRequest.Header(
        document=wire.Document(**vars(one.document)),
        fingerprint=made_by,
        parents=len(one.parents),
        children=len(one.children),
    )
    yield wire.IndexDocumentRequest(header=header)
    passages = wire.IndexDocumentRequest.Passages(
        parents=[wire.Parent(**vars(parent)) for parent in one.parents],
        children=[wire.Child(**vars(child)) for child in one.children],
    )
    yield wire.IndexDocumentRequest(passages=passages)


async def ingested(environ: Mapping[str, str], *words: str) -> float:
    """Publishes documents as anyone would; the seconds that took. Raises RuntimeError."""
    line, began = (sys.executable, "-m", "cli", "ingest", *words), perf_counter()
    log = Path(environ["RADRAG_HOME"]) / "log" / "ingest.log"
    with log.open("wb") as out:
        child = await asyncio.create_subprocess_exec(
            *line, env=dict(environ), cwd=places.ROOT, stdout=out, stderr=asyncio.subprocess.STDOUT
        )
        if await child.wait():
            raise RuntimeError(f"not published: {log.read_text(encoding='utf-8')[-2000:]}")
    return perf_counter() - began


async def _restarted(started: Iterable[Service]) -> None:
    again = list(started)
    await supervision.down([one.child for one in again])
    await supervision.up(again, Terminal(), 120)


def _services(environ: Mapping[str, str], names: Sequence[str]) -> list[Service]:
    found = services.profile(Settings.from_environ(environ), environ).services
    return [one for name in names for one in found if one.child.name == name]


def _environ(kind: str, home: Path, triton: str, port: int) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RADRAG_", "OTEL_"))}
    own = {
        "RADRAG_HOME": str(home),
        "RADRAG_INSECURE_DEV": "true",
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{port + 10}",
        "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{port + 11}",
        "RADRAG_INGEST_ADDRESS": f"127.0.0.1:{port + 12}",
        "RADRAG_LOG_FORMAT": "json",
        "RADRAG_MAX_WAITING": "1000",  # what is measured is the cost of a call, not its refusal
        **{f"RADRAG_{role}_URL": triton for role in ROLES},
    }
    named = {f"RADRAG_{role}_MODEL": model for role, model in zip(ROLES, MODELS[kind], strict=False)}
    return clean | own | named | (_thresholds(home) if kind != "cpu" else {})


def _thresholds(home: Path) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    path = home / "thresholds.json"
    path.write_text(THRESHOLDS, encoding="utf-8")
    return {"RADRAG_THRESHOLDS": str(path)}


def repository_of(home: Path, models: Sequence[str]) -> Path:
    """A repository of these models, wherever they lie."""
    folder = home / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for model in models:
        found = next(one / model for one in REPOSITORIES if (one / model).is_dir())
        if model in FORGETFUL:
            _forgetful(found, folder / model)
        else:
            (folder / model).symlink_to(found)
    return folder


def _forgetful(model: Path, place: Path) -> None:
    """A model as it is for passages it has not read lately: made-up questions share theirs."""
    place.mkdir()
    for one in model.iterdir():
        (place / one.name).symlink_to(one)
    config = place / "config.pbtxt"
    said, times = KEPT.subn("\\g<1>0\\2", config.read_text(encoding="utf-8"))
    if times != 1:
        raise RuntimeError(f"{model} does not say how much it keeps")
    config.unlink()
    config.write_text(said, encoding="utf-8")
