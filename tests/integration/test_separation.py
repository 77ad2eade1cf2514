"""Each role on a server of its own: what is down is all that is missed."""

import asyncio
import os
import socket
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
from tests.conftest import ran
from tests.integration import test_degraded
from tests.integration.bulk import rate, slow
from tests.integration.conftest import FEW, MODELS, NULL, Stack, environ, lent, started
from tests.integration.connections import connected, opened_by_others, strangers
from tests.integration.test_replicas import served
from tests.ports import free_grpc_port, free_port
from tests.results import kept

ROLES = ("embedder", "reranker", "generator")
# Runs with one embedder and with two, in turn; more than half must gain so much, or no more are run.
PAIRS, LEAST = 3, 1.8
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
            until.callback(lambda one: ran(one.stop()), server)
            ran(server.start())
        stack = until.enter_context(started(settings, "retrieval", "gateway", "ingest"))
        done = stack.radrag("ingest", *map(str, FEW), "--topic", "safety", "--approve", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        yield stack, servers


# A model that gives every text one vector cannot tell near from far: the gateway says so in every reply.
ALWAYS = {"scope"}


def degraded(reply: pb.SearchResponse | pb.GenerateResponse) -> set[str]:
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


async def test_a_role_alone_is_ready_and_only_the_two_others_are_missed(
    apart: tuple[Stack, dict[str, TritonServer]],
) -> None:
    """Each role in turn with the other two down: health, replies and metrics name those two."""
    stack, servers = apart
    async with AsyncClient(stack.gateway, deadline=30) as client:
        try:
            for left in ROLES:
                await only(stack.gateway, servers, left)
                await _names_all_but(left, client, stack.gateway)
        finally:
            for server in servers.values():
                if not server.child.running():
                    await server.start()
        await _until(lambda: not unhealthy(stack.gateway))
        assert not degraded(await client.search(QUESTION))


async def _names_all_but(left: str, client: AsyncClient, gateway: str) -> None:
    """A search that misses a model says, too, whether there is anyone left to write an answer."""
    down, before = set(ROLES) - {left}, missed(gateway)
    assert degraded(await client.search(QUESTION)) == down
    if left == "generator":
        assert degraded(await client.generate(QUESTION)) == down
    else:
        with pytest.raises(Unavailable) as refused:
            await client.generate(QUESTION)
        assert refused.value.reason == "GENERATOR_UNAVAILABLE"
    assert set(missed(gateway) - before) == down


async def only(gateway: str, servers: dict[str, TritonServer], left: str) -> None:
    """Returns when the gateway's health names the two other roles, and no other part."""
    if not servers[left].child.running():
        await servers[left].start()
    for role in set(ROLES) - {left}:
        servers[role].kill()
    await _until(lambda: unhealthy(gateway) == set(ROLES) - {left})


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


@pytest.mark.skipif(not os.environ.get("RADRAG_TEST_RESULTS"), reason="timed: make bench-scaling runs it")
async def test_a_second_embedder_nearly_doubles_ingest_and_no_other_role_hears_of_it(
    apart: tuple[Stack, dict[str, TritonServer]],
    tmp_path: Path,
) -> None:
    stack, servers = apart
    others = [servers["reranker"], servers["generator"]]
    gateway = stack.services["gateway"].child.running()
    assert gateway
    pair = slow(tmp_path)
    async with lent(pair[0]), lent(pair[1]):
        urls = [pair[0].grpc, "ipv4:" + ",".join(one.grpc for one in pair)]
        asked = [served(one) for one in others]
        watch = asyncio.create_task(strangers([one.grpc for one in others], gateway.pid))
        rates = list[list[float]]()
        while len(rates) < PAIRS and sum(two > LEAST * one for one, two in rates) <= PAIRS // 2:
            turn = len(rates)
            rates.append([await rate(stack, url, tmp_path, f"{turn}{n}") for n, url in enumerate(urls)])
        watch.cancel()
        seen = await watch
    ratios = [two / one for one, two in rates]
    figures = {"texts_per_second": [[round(one, 1) for one in some] for some in rates]}
    kept(
        "second_embedder",
        figures | {"ratios": [round(one, 2) for one in ratios], "new_connections": len(seen)},
    )
    assert not seen, "the reranker or the generator was dialled"
    assert [served(one) for one in others] == asked
    assert sum(one > LEAST for one in ratios) > PAIRS // 2, ratios


def test_a_connection_of_somebody_else_is_noticed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not connected({port})
        with socket.create_connection(("127.0.0.1", port)):
            assert len(opened_by_others({port}, 1)) == 1
            assert not opened_by_others({port}, os.getpid())
