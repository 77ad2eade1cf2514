"""Each role on a server of its own: one that is down is the only one missed, one that grows serves more."""

import asyncio
import shutil
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import Unavailable
from radrag.serving import probe
from radrag.telemetry.reading import samples
from radrag.triton import ModelServer
from tests.conftest import free_grpc_port
from tests.integration import test_degraded
from tests.integration.conftest import FEW, MODELS, NULL, Stack, environ, free_port, lent, started

ROLES = ("embedder", "reranker", "generator")
QUESTION = "What is the yearly occupational limit for the eye lens?"


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, dict[str, TritonServer]]]:
    """Retrieval, gateway and ingest with three documents, and a Triton for each role."""
    home = tmp_path_factory.mktemp("apart")
    servers = {
        role: TritonServer(Child(role, home), (model,), free_grpc_port(), repository=MODELS)
        for role, model in zip(ROLES, NULL, strict=True)
    }
    (home / "thresholds.json").write_text('{"rerank": {"null_reranker": {"score": 0.5}}}')
    models = {f"RADRAG_{role.upper()}_MODEL": model for role, model in zip(ROLES, NULL, strict=True)}
    settings = environ(
        home,
        *(servers[role].grpc for role in ROLES),
        **models,
        RADRAG_THRESHOLDS=str(home / "thresholds.json"),
        RADRAG_INGEST_ADDRESS=f"127.0.0.1:{free_port()}",
    )
    with ExitStack() as until:
        for server in servers.values():
            until.callback(lambda one: asyncio.run(one.stop()), server)
            asyncio.run(server.start())
        stack = until.enter_context(started(settings, "retrieval", "gateway", "ingest"))
        done = stack.radrag("ingest", *map(str, FEW), "--topic", "safety", "--approve", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        yield stack, servers


# A model that gives every text one vector cannot tell near from far: the gateway says so in every reply.
ALWAYS = {"scope"}


def degraded(reply: pb.SearchResponse) -> set[str]:
    return test_degraded.degraded(reply) - ALWAYS


def missed(gateway: str) -> Counter[str]:
    """Replies without a part so far, by part, as the gateway's metrics have it."""
    host, port = gateway.split(":")
    with urllib.request.urlopen(f"http://{host}:{int(port) + 200}/metrics", timeout=5) as page:
        found = samples(page.read().decode())
    return Counter(
        {
            one.labels["what"]: int(one.value)
            for one in found
            if one.name == "radrag_degraded_total" and one.labels["what"] not in ALWAYS
        }
    )


def unhealthy(gateway: str) -> set[str]:
    host, port = gateway.split(":")
    parts = (*ROLES, "retrieval", "")
    return {part for part in parts if not probe.serving(f"{host}:{int(port) + 100}", part)}


@pytest.mark.parametrize("role", ["embedder", "reranker"])
async def test_a_role_that_is_down_is_the_only_one_missed(
    apart: tuple[Stack, dict[str, TritonServer]], role: str
) -> None:
    stack, servers = apart
    async with AsyncClient(stack.gateway, deadline=30) as client:
        assert not degraded(await client.search(QUESTION))
        before = missed(stack.gateway)
        await killed(stack.gateway, servers[role], role)
        assert degraded(await client.search(QUESTION)) == {role}
        assert set(missed(stack.gateway) - before) == {role}
        await back(stack.gateway, servers[role])
        assert not degraded(await client.search(QUESTION))


async def test_without_the_generator_searches_miss_nothing_and_answers_say_why(
    apart: tuple[Stack, dict[str, TritonServer]],
) -> None:
    stack, servers = apart
    async with AsyncClient(stack.gateway, deadline=30) as client:
        await killed(stack.gateway, servers["generator"], "generator")
        before = missed(stack.gateway)
        assert not degraded(await client.search(QUESTION))
        with pytest.raises(Unavailable) as refused:
            await client.generate(QUESTION)
        assert refused.value.reason == "GENERATOR_UNAVAILABLE"
        assert set(missed(stack.gateway) - before) <= {"generator"}
        await back(stack.gateway, servers["generator"])
        assert (await client.generate(QUESTION)).text


async def killed(gateway: str, server: TritonServer, role: str) -> None:
    """Returns when the gateway's health names this role, and no other part."""
    server.kill()
    await _until(lambda: unhealthy(gateway) == {role})


async def back(gateway: str, server: TritonServer) -> None:
    await server.start()
    await _until(lambda: not unhealthy(gateway))


async def _until(holds: Callable[[], bool], seconds: float = 40) -> None:
    until = time.monotonic() + seconds
    while not await asyncio.to_thread(holds):
        assert time.monotonic() < until
        await asyncio.sleep(0.3)


async def test_a_second_embedder_nearly_doubles_what_is_embedded(tmp_path: Path) -> None:
    """A model that takes 60 ms a text and never two at once: its servers are all that limits."""
    repository = tmp_path / "models"
    shutil.copytree(MODELS / "null_embedder", repository / "null_embedder")
    config = repository / "null_embedder" / "config.pbtxt"
    slow = config.read_text().replace("max_batch_size: 32", "max_batch_size: 1")
    config.write_text(slow.replace('string_value: "2"', 'string_value: "60"'))
    ports = free_grpc_port(), free_grpc_port()
    pair = [
        TritonServer(Child(f"e{port}", tmp_path), ("null_embedder",), port, repository=repository)
        for port in ports
    ]
    async with lent(pair[0]), lent(pair[1]):
        # What else the machine does only lowers a rate: the best of three in turn is what they can.
        rates = [
            (await rate(pair[0].grpc), await rate("ipv4:" + ",".join(one.grpc for one in pair)))
            for _ in range(3)
        ]
    alone, both = (max(some) for some in zip(*rates, strict=True))
    print(f"{alone:.1f} texts/s with one, {both:.1f} with two")  # noqa: T201 - what was measured
    assert both > 1.8 * alone


async def rate(url: str, texts: int = 120) -> float:
    """Texts embedded per second, eight at a time, as ingest sends them."""
    role, gate = ModelServer(url, "embedder"), asyncio.Semaphore(8)

    async def one() -> None:
        async with gate:
            await role.embed("null_embedder", "text", "document", [(0, 4)])

    try:
        await asyncio.gather(*(one() for _ in range(8)))  # connected
        began = time.monotonic()
        await asyncio.gather(*(one() for _ in range(texts)))
        return texts / (time.monotonic() - began)
    finally:
        await role.close()
