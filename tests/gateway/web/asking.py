"""The HTTP application before a running service: the same service is asked over gRPC and over HTTP."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from grpc import aio

from gateway import http
from gateway.pipeline import Pipeline
from gateway.service import NAME
from gateway.web.app import app
from gateway.web.calls import Services
from radrag import serving
from radrag.access import callers as file
from radrag.access.identity import Anyone, Identity, Known
from radrag.access.opening import Access
from radrag.account import Trail
from radrag.admission.limits import Limits
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.settings import Settings
from tests.gateway.channel import service
from tests.gateway.fakes import PIPELINE

LIMITS = Limits()


@dataclass(frozen=True)
class Both:
    """Two ways to one service."""

    http: httpx.AsyncClient
    grpc: AssistantServiceStub


@asynccontextmanager
async def asking(
    pipeline: Pipeline = PIPELINE, identity: Identity | None = None, max_in_flight: int = 64
) -> AsyncIterator[Both]:
    """Both ways to a service over this pipeline; the HTTP one goes over the private socket."""
    with http.socket(wanted=True) as inside:
        server = await serving.start(
            inside.beside(service(pipeline).add_to),
            "127.0.0.1:0",
            limits=Limits(max_in_flight),
            trail=Trail(),
            access=Access(identity or Anyone()),
        )
        try:
            async with (
                aio.insecure_channel(f"127.0.0.1:{server.port}") as outside,
                aio.insecure_channel(inside.path) as channel,
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app(Services({NAME: channel}, anonymous=identity is None))),
                    base_url="http://radrag",
                ) as client,
            ):
                yield Both(client, AssistantServiceStub(outside))
        finally:
            await server.stop()


def keys(folder: Path, **callers: dict[str, object]) -> tuple[Path, dict[str, str]]:
    """A file of callers with one key each. Returns it and the keys by name."""
    made = {name: file.made(name) for name in callers}
    entries = [
        {"id": name, "sha256": file.digest(made[name]), "sub": name, **said} for name, said in callers.items()
    ]
    path = folder / "callers.json"
    path.write_text(json.dumps({"keys": entries}))
    return path, made


@asynccontextmanager
async def served(
    pipeline: Pipeline, callers: Path | None = None, limits: Limits = LIMITS, ingest: str = ""
) -> AsyncIterator[str]:
    """The URL of a real HTTP server before a service over this pipeline, for everybody or for `callers`."""
    settings = Settings(
        http_address="127.0.0.1:0", ingest_address=ingest,
        insecure_dev=callers is None, callers_file=str(callers or ""),
    )  # fmt: skip
    access = Access(Known(callers=file.Callers(callers)) if callers else Anyone())
    with http.socket(wanted=True) as inside:
        add = inside.beside(service(pipeline).add_to)
        server = await serving.start(add, "127.0.0.1:0", access=access, limits=limits)
        try:
            async with http.running(settings, inside, Access()) as port:
                yield f"http://127.0.0.1:{port}"
        finally:
            await server.stop()
