"""A real Triton that wants certificates: a gateway with ours reaches its models, nobody without one does."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cli import places
from cli.process import Child, forget_shared
from cli.triton_server import command, environ, shared_memory_prefix
from gateway import __main__ as gateway
from radrag.access.channels import Files
from radrag.errors import ModelUnavailable
from radrag.settings import Settings
from radrag.triton import ModelServer
from tests.access.authority import Authority
from tests.integration.conftest import MODELS
from tests.ports import free_grpc_port

MODEL = "null_embedder"


def mutual(server: Files) -> list[str]:
    """Triton's flags, as SECURITY.md says them."""
    return [
        "--grpc-use-ssl=true", "--grpc-use-ssl-mutual=true", f"--grpc-server-cert={server.certificate}",
        f"--grpc-server-key={server.key}", f"--grpc-root-cert={server.authority}",
    ]  # fmt: skip


@asynccontextmanager
async def triton(folder: Path, files: Files) -> AsyncIterator[str]:
    """A server of its own with one model; its gRPC address."""
    port, child = free_grpc_port(), Child("secured", folder)
    line = command((MODEL,), "127.0.0.1", port, repository=MODELS)
    child.start((*line, *mutual(files)), environ(os.environ), places.ROOT)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await child.stop(20)
        forget_shared(shared_memory_prefix(port))


async def ready(address: str, tls: Files | None, seconds: float = 0.0) -> bool:
    server, end = ModelServer(address, "embedder", tls), asyncio.get_running_loop().time() + seconds
    try:
        while not (there := await server.ready(MODEL)) and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.2)
        return there
    finally:
        await server.close()


async def test_models_are_reached_over_mutual_tls_and_not_otherwise(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    async with triton(tmp_path, ours.files("triton", ours.path)) as address:
        own = ours.files("gateway", ours.path)
        assert await ready(address, own, 60)
        role = ModelServer(address, "embedder", own)
        assert (await role.embed(MODEL, "text", "query")).vectors.size
        await role.close()
        strangers = {
            "plaintext": None,
            "no certificate": Files(authority=ours.path),
            "another CA's certificate": theirs.files("gateway", ours.path),
            "an expired certificate": ours.files("late", ours.path, days=-1),
            "another server expected": ours.files("misled", theirs.path),
        }
        for name, files in strangers.items():
            assert not await ready(address, files), name
            stranger = ModelServer(address, "embedder", files)
            with pytest.raises(ModelUnavailable):
                await stranger.embed(MODEL, "text", "query", seconds=5)
            await stranger.close()
        assert await serves(own, address) is True


async def serves(own: Files, models: str) -> bool:
    """Whether a gateway with this certificate finds its embedder."""
    settings = Settings(
        gateway_address="127.0.0.1:0", retrieval_address="127.0.0.1:1", ingest_address="", metrics_host="",
        embedder_url=models, embedder_model=MODEL, reranker_url="127.0.0.1:1", generator_url="127.0.0.1:1",
        tls_cert_file=str(own.certificate), tls_key_file=str(own.key), models_ca_file=str(own.authority),
        insecure_dev=True,
    )  # fmt: skip
    async with (
        gateway.running(settings) as server,
        aio.insecure_channel(f"127.0.0.1:{server.health_port}") as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        for _ in range(100):
            try:
                reply = await stub.Check(health_pb2.HealthCheckRequest(service="embedder"), timeout=5)
                if reply.status == health_pb2.HealthCheckResponse.SERVING:
                    return True
            except grpc.RpcError:  # not told yet
                pass
            await asyncio.sleep(0.1)
    return False
