"""The models an evaluation asks: those that run already, else a model server of its own."""

import hashlib
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cli import health
from cli.model_environment import MODEL_REPOSITORY
from cli.process import Child
from cli.triton_server import TritonServer
from radrag.settings import Settings
from radrag.triton import ModelServer


@asynccontextmanager
async def serving(settings: Settings, models: tuple[str, ...]) -> AsyncIterator[ModelServer]:
    """The running server when it serves all these models, else one that is started and stopped here."""
    if await health.models_not_ready(settings.embedder_url, models):
        async with _started(models) as url, _connected(url) as server:
            yield server
    else:
        async with _connected(settings.embedder_url) as server:
            yield server


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[ModelServer]:
    server = ModelServer(url, "model server")
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def _started(models: tuple[str, ...]) -> AsyncIterator[str]:
    """A server of this process alone: two evaluations at once must not stop each other's."""
    with tempfile.TemporaryDirectory(prefix="radrag-eval-") as home:
        triton = TritonServer(Child("triton", Path(home)), models, _free_port())
        await triton.start()
        try:
            yield triton.grpc
        finally:
            await triton.stop()


async def fingerprint(server: ModelServer, model: str) -> str:
    """What a model's numbers depend on: its parameters; the files of one that says no more than its name."""
    said = {name: value for name, value in (await server.parameters(model)).items() if name != "threads"}
    code = "" if "pooling" in said else _code_sha256(MODEL_REPOSITORY / model)
    return f"{model} {sorted(said.items())} {code}"


def _code_sha256(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.glob("1/*.py")) + sorted(folder.glob("1/*.json")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _free_port() -> int:
    """A port with a free one on each side: HTTP below gRPC, metrics above."""
    while True:
        with socket.socket() as first, socket.socket() as below, socket.socket() as above:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                below.bind(("127.0.0.1", port - 1))
                above.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return int(port)
