"""How Triton is started: its command line, its environment, and one server with its start and its end.

HTTP is served one port below gRPC, metrics one above. All three listen on one address, loopback unless told.
"""

import asyncio
import http.client
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from ctypes.util import find_library
from dataclasses import dataclass, replace
from pathlib import Path

from cli.model_environment import MODEL_REPOSITORY, ROOT, ModelEnvironment
from cli.process import Child

# A model process needs seconds to let its weights go; cut short, it leaves shared memory behind.
EXIT_SECONDS = 15
# Callers connect anew after so long and then find a new replica; what runs on the old connection may end.
CONNECTION_SECONDS, GRACE_SECONDS = 30, 600


class TritonNotReady(RuntimeError):
    """Triton ended, or did not load every model in time. The message names the models and the log's end."""


def command(
    models: Sequence[str],
    host: str,
    grpc_port: int,
    *,
    traces: str = "",
    repository: Path = MODEL_REPOSITORY,
    environment: ModelEnvironment | None = None,
) -> tuple[str, ...]:
    """Triton serving `models` and nothing else. `traces` is an OTLP/HTTP endpoint such as http://host:4318."""
    folder = (environment or ModelEnvironment()).triton
    ports = {"http": grpc_port - 1, "grpc": grpc_port, "metrics": grpc_port + 1}
    return (
        str(folder / "bin" / "tritonserver"),
        f"--model-repository={repository}",
        f"--backend-directory={folder / 'backends'}",
        f"--backend-config=python,shm-region-prefix-name={shared_memory_prefix(grpc_port, host)}",
        "--model-control-mode=explicit",
        *(f"--load-model={model}" for model in models),
        *(f"--{protocol}-address={host}" for protocol in ports),
        *(f"--{protocol}-port={port}" for protocol, port in ports.items()),
        f"--exit-timeout-secs={EXIT_SECONDS}",
        f"--grpc-max-connection-age={CONNECTION_SECONDS * 1000}",
        f"--grpc-max-connection-age-grace={GRACE_SECONDS * 1000}",
        "--allow-gpu-metrics=false",
        *(tracing(traces) if traces else ()),
    )


def shared_memory_prefix(grpc_port: int, host: str = "127.0.0.1") -> str:
    return f"radrag-triton-{host}-{grpc_port}-"


def tracing(endpoint: str) -> list[str]:
    """OpenTelemetry spans for the requests that bring a trace context, and for no others (rate 0)."""
    options = [
        "mode=opentelemetry",
        f"opentelemetry,url={endpoint.rstrip('/')}/v1/traces",
        "opentelemetry,resource=service.name=triton",
        "level=TIMESTAMPS",
        "rate=0",
        "count=-1",
    ]
    return [f"--trace-config={option}" for option in options]


def environ(
    inherited: Mapping[str, str], environment: ModelEnvironment | None = None, *, traced: bool = False
) -> dict[str, str]:
    """What Triton needs beyond `inherited`: the Python stub ignores PYTHONPATH and takes its packages from
    the first python3 on PATH, and its libpython from where the loader looks."""
    place = environment or ModelEnvironment()
    result = {name: value for name, value in inherited.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    result["PATH"] = f"{place.python.parent}{os.pathsep}{inherited.get('PATH', os.defpath)}"
    result["PYTHONDONTWRITEBYTECODE"] = "1"
    if place.library_folder:
        known = [folder for folder in (inherited.get("LD_LIBRARY_PATH"),) if folder]
        result["LD_LIBRARY_PATH"] = os.pathsep.join([str(place.library_folder), *known])
    return result | (zeroed_memory(inherited) if traced else {})


def zeroed_memory(inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables with which memory is zero when it is given out; none where jemalloc is not installed.

    Triton 2.51 reads a caller's `traceparent` up to the next NUL, which gRPC does not write: with memory as
    it comes, 1 to 10 of 100 calls lose their context, and their spans with it; with zeroed memory none.
    """
    library = find_library("jemalloc")
    if not library:
        return {}
    loaded = [one for one in (inherited.get("LD_PRELOAD"),) if one]
    options = _zeroed(inherited.get("MALLOC_CONF", ""))
    return {"LD_PRELOAD": os.pathsep.join([library, *loaded]), "MALLOC_CONF": options}


def _zeroed(given: str) -> str:
    """The operator's options of jemalloc and `zero`, unless they say something of it themselves."""
    options = [one for one in given.split(",") if one]
    named = {one.partition(":")[0] for one in options}
    return ",".join(options if "zero" in named else [*options, "zero:true"])


@dataclass(frozen=True)
class TritonServer:
    """One server of its own. `child` says where its pid file and its log lie."""

    child: Child
    models: tuple[str, ...]
    grpc_port: int
    host: str = "127.0.0.1"
    repository: Path = MODEL_REPOSITORY
    traces: str = ""

    @property
    def http(self) -> str:
        return f"{self.host}:{self.grpc_port - 1}"

    @property
    def grpc(self) -> str:
        return f"{self.host}:{self.grpc_port}"

    @property
    def metrics(self) -> str:
        return f"{self.host}:{self.grpc_port + 1}"

    @property
    def _private(self) -> Child:
        return replace(self.child, shared=shared_memory_prefix(self.grpc_port, self.host))

    async def start(self, seconds: float = 120.0) -> None:
        """Returns when every model is READY. Raises TritonNotReady, and leaves nothing running then."""
        line = command(self.models, self.host, self.grpc_port, traces=self.traces, repository=self.repository)
        self._private.start(line, environ(os.environ, traced=bool(self.traces)), ROOT)
        try:
            await asyncio.wait_for(self._until_ready(), seconds)
        except TimeoutError:
            raise TritonNotReady(self._report(f"not ready after {seconds:.0f} s")) from None
        finally:
            if not await self.ready():
                await self.stop()

    async def stop(self) -> None:
        """Ends it and its model processes, and leaves nothing of theirs in memory."""
        await self._private.stop(EXIT_SECONDS + 5.0)

    def kill(self) -> None:
        """As if the machine had taken it: the server and its model processes, at once."""
        running = self.child.running()
        if running:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)

    async def ready(self) -> bool:
        return not await self.missing()

    async def missing(self) -> list[str]:
        """The models that would not take a request now."""
        answers = await asyncio.gather(*(asyncio.to_thread(self._serves, model) for model in self.models))
        return [model for model, serves in zip(self.models, answers, strict=True) if not serves]

    def _serves(self, model: str) -> bool:
        with closing(http.client.HTTPConnection(self.http, timeout=1.0)) as connection:
            try:
                connection.request("GET", f"/v2/models/{model}/ready")
                return connection.getresponse().status == http.client.OK
            # While nobody listens yet, a connection may reach itself and read its own words.
            except (OSError, http.client.HTTPException):
                return False

    async def _until_ready(self) -> None:
        while await self.missing():
            if not self.child.running():
                raise TritonNotReady(self._report("ended while starting"))
            await asyncio.sleep(0.2)

    def _report(self, what: str) -> str:
        return "\n".join([f"Triton {what}: {', '.join(self.models)}", *self.child.last_lines()])
