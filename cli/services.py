"""What runs: retrieval, gateway, ingest, and a Triton for each address that a role names on this machine.

Where all roles name one address, as by default, one Triton serves them all. A role whose address is
elsewhere, or names several servers, is somebody else's to run.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import health, places, ports, quiet, triton_server
from cli.ports import Port
from cli.process import Child
from cli.supervision import Service
from radrag.call import on_loopback
from radrag.settings import Settings

METRICS_ABOVE = 200  # a service's metrics port above its own
TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT"
# Not handed to children: they would bend which libraries those load.
PRIVATE = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "LD_PRELOAD", "VIRTUAL_ENV"}


@dataclass(frozen=True)
class Profile:
    """The services in the order `status` shows them, and where their state lies."""

    services: Sequence[Service]
    home: Path

    @property
    def children(self) -> list[Child]:
        """Their processes."""
        return [service.child for service in self.services]


def profile(settings: Settings, environ: Mapping[str, str]) -> Profile:
    """The services as the settings want them. Raises ValueError for an address that is none."""
    home = places.home(settings, environ)
    child_environ = _environ(settings, environ)
    services = [
        *_model_servers(settings, child_environ, home),
        _own("retrieval", settings.retrieval_address, child_environ, home),
        _own("gateway", settings.gateway_address, child_environ, home, settings.http_address),
        _own("ingest", settings.ingest_address, child_environ, home),
    ]
    return Profile(services, home)


def models(settings: Settings) -> tuple[str, ...]:
    """The models behind the roles, each once."""
    return tuple(dict.fromkeys(model for _, _, model in _roles(settings)))


def _roles(settings: Settings) -> list[tuple[str, str, str]]:
    """Role, address, model of each role that Triton serves."""
    roles = [
        ("embedder", settings.embedder_url, settings.embedder_model),
        ("reranker", settings.reranker_url, settings.reranker_model),
        ("generator", settings.generator_url, settings.generator_model),
    ]
    return roles if settings.generator_kind == "triton" else roles[:2]


def _model_servers(settings: Settings, environ: Mapping[str, str], home: Path) -> list[Service]:
    roles = _roles(settings)
    urls = dict.fromkeys(url for _, url, _ in roles)
    return [
        _triton(
            "triton" if len(urls) == 1 else next(role for role, one, _ in roles if one == url),
            url,
            tuple(dict.fromkeys(model for _, one, model in roles if one == url)),
            environ,
            home,
        )
        for url in urls
        if on_loopback(url)
    ]


def _own(name: str, address: str, environ: Mapping[str, str], home: Path, http: str = "") -> Service:
    """A process of ours; `http` is where it serves HTTP beside, if it does."""
    host, port = ports.split(address)
    offsets = ((0, name), (health.HEALTH_ABOVE, f"{name} health"), (METRICS_ABOVE, f"{name} metrics"))
    return Service(
        child=Child(name, home),
        command=(sys.executable, "-m", name),
        environ=environ,
        folder=places.ROOT,
        ports=[
            *(Port(host, port + above, purpose) for above, purpose in offsets),
            *([Port(*ports.split(http), f"{name} HTTP")] if http else []),
        ],
        missing=_serving(name, address),
    )


def _serving(name: str, address: str) -> Callable[[], Awaitable[Sequence[str]]]:
    async def missing() -> Sequence[str]:
        return () if await health.serving(address) else (name,)

    return missing


def _triton(name: str, url: str, wanted: tuple[str, ...], environ: Mapping[str, str], home: Path) -> Service:
    host, grpc_port = ports.split(url)

    async def missing() -> Sequence[str]:
        return await health.models_not_ready(url, wanted)

    server = "model server" if name == "triton" else name
    return Service(
        child=Child(name, home, triton_server.shared_memory_prefix(grpc_port, host)),
        command=triton_server.command(wanted, host, grpc_port, traces=environ.get(TRACES, "")),
        environ=triton_server.environ(environ, traced=bool(environ.get(TRACES))),
        folder=places.ROOT,
        ports=[
            Port(host, grpc_port, f"{server} gRPC"),
            Port(host, grpc_port - 1, f"{server} HTTP"),
            Port(host, grpc_port + 1, f"{server} metrics"),
        ],
        missing=missing,
    )


def _environ(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name not in PRIVATE}
    quiet.hush(kept)
    kept["RADRAG_HOME"] = str(places.home(settings, environ))
    kept["RADRAG_INDEX_PATH"] = str(places.index(settings, environ))
    if "RADRAG_MODELS" in environ:
        kept["RADRAG_MODELS"] = str(Path.cwd() / settings.models)
    kept["RADRAG_EMBEDDER_TOKENIZER"] = str(places.tokenizer(settings, environ))
    return kept
