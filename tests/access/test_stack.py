"""Two processes and a client, nothing in plaintext: a key, a certificate, TLS on each hop."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from grpc import aio

from cli import health
from gateway import __main__ as gateway
from ingest.indexed import IndexedVersions
from radrag.access import channels
from radrag.access.callers import digest, made
from radrag.access.channels import Files
from radrag.client import AsyncClient
from radrag.errors import Unauthenticated, from_rpc
from radrag.retrieval.v1 import retrieval_pb2, retrieval_pb2_grpc
from radrag.settings import Settings
from tests.access.authority import Authority
from tests.ports import free_port
from tests.retrieval.process import ROOT

QUESTION = "What is the annual dose limit for the lens of the eye?"
NOBODY = "127.0.0.1:1"


async def test_a_question_goes_over_tls_to_the_index_and_back_for_a_known_caller(tmp_path: Path) -> None:
    ours, key = Authority(tmp_path / "ca"), made("pacs")
    callers = tmp_path / "callers.json"
    keys = [{"id": "pacs", "sha256": digest(key), "sub": "pacs", "roles": ["reader"]}]
    certificates = [{"name": one, "sub": one, "roles": ["service"]} for one in ("gateway", "ingest")]
    callers.write_text(json.dumps({"keys": keys, "certificates": certificates}))
    trusted = channels.channel_credentials(Files(authority=ours.path))
    async with retrieval(tmp_path, ours, callers) as address:
        own = ours.files("gateway")
        settings = Settings(
            gateway_address="127.0.0.1:0", retrieval_address=address, ingest_address="",
            embedder_url=NOBODY, reranker_url=NOBODY, generator_url=NOBODY, metrics_host="",
            callers_file=str(callers), tls_cert_file=str(own.certificate), tls_key_file=str(own.key),
            tls_ca_file=str(ours.path),
        )  # fmt: skip
        async with gateway.running(settings) as server:
            at = f"127.0.0.1:{server.port}"
            async with AsyncClient(at, 30, trusted, key) as client:
                reply = await client.search(QUESTION)
                assert "embedder" in str(reply.warnings)
            async with AsyncClient(at, 30, trusted) as stranger:
                with pytest.raises(Unauthenticated):
                    await stranger.search(QUESTION)
            await server.stop()
        async with channels.channel(address, ours.files("ingest", ours.path)) as channel:
            assert await IndexedVersions(channel).all() == []  # as ingest asks
        assert await refusal(address, ours.files("pacs", ours.path)) == "NO_CREDENTIAL"
        assert await refusal(address, None) == "UNAVAILABLE"


async def refusal(address: str, tls: Files | None) -> str:
    async with channels.channel(address, tls) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        with pytest.raises(aio.AioRpcError) as failure:
            await stub.Describe(retrieval_pb2.DescribeRequest(), timeout=10)
    return from_rpc(failure.value).reason


@asynccontextmanager
async def retrieval(folder: Path, ours: Authority, callers: Path) -> AsyncIterator[str]:
    """A retrieval process that wants the certificate of a caller it knows."""
    address, own = f"127.0.0.1:{free_port()}", ours.files("retrieval")
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RADRAG_")},
        "RADRAG_RETRIEVAL_ADDRESS": address,
        "RADRAG_INDEX_PATH": str(folder / "index"),
        "RADRAG_CALLERS_FILE": str(callers),
        "RADRAG_TLS_CERT_FILE": str(own.certificate),
        "RADRAG_TLS_KEY_FILE": str(own.key),
        "RADRAG_TLS_CLIENT_CA_FILE": str(ours.path),
    }
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "retrieval"), cwd=ROOT, env=environ, stderr=log
        )
        try:
            while not await health.serving(address):
                assert process.returncode is None, (folder / "log").read_text()
                await asyncio.sleep(0.1)
            yield address
        finally:
            process.terminate()
            await process.wait()
