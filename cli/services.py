"""What runs in the cpu profile: one Triton with the three models, retrieval, gateway, ingest; their ports."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import health, places, ports, quiet, triton_server
from cli.ports import Port
from cli.process import Child
from cli.supervision import Service
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
        _triton(settings, child_environ, home),
        _own("retrieval", settings.retrieval_address, child_environ, home),
        _own("gateway", settings.gateway_address, child_environ, home),
        _own("ingest", settings.ingest_address, child_environ, home),
    ]
    return Profile(services, home)


def models(settings: Settings) -> tuple[str, ...]:
    """The models behind the three roles, each once."""
    return tuple(dict.fromkeys((settings.embedder_model, settings.reranker_model, settings.generator_model)))


def _own(name: str, address: str, environ: Mapping[str, str], home: Path) -> Service:
    host, port = ports.split(address)
    offsets = ((0, name), (health.HEALTH_ABOVE, f"{name} health"), (METRICS_ABOVE, f"{name} metrics"))
    return Service(
        child=Child(name, home),
        command=(sys.executable, "-m", name),
        environ=environ,
        folder=places.ROOT,
        ports=[Port(host, port + above, purpose) for above, purpose in offsets],
        missing=_serving(name, address),
    )


def _serving(name: str, address: str) -> Callable[[], Awaitable[Sequence[str]]]:
    async def missing() -> Sequence[str]:
        return () if await health.serving(address) else (name,)

    return missing


def _triton(settings: Settings, environ: Mapping[str, str], home: Path) -> Service:
    host, grpc_port = ports.split(settings.embedder_url)
    wanted = models(settings)

    async def missing() -> Sequence[str]:
        return await health.models_not_ready(settings.embedder_url, wanted)

    return Service(
        child=Child("triton", home),
        command=triton_server.command(wanted, host, grpc_port, traces=environ.get(TRACES, "")),
        environ=triton_server.environ(environ),
        folder=places.ROOT,
        ports=[
            Port(host, grpc_port, "model server gRPC"),
            Port(host, grpc_port - 1, "model server HTTP"),
            Port(host, grpc_port + 1, "model server metrics"),
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
