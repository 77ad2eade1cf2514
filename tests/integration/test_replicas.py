"""A role as several Triton servers: calls take turns, one that dies is left out, a new one is found."""

import asyncio
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.errors import RadragError
from radrag.triton import ModelServer
from tests.conftest import free_grpc_port
from tests.integration.conftest import MODELS, lent
from tests.integration.names import Names, names

ANOTHER = "127.0.0.2"  # the same port at another address: what two pods behind one name are


def replica(name: str, host: str, port: int, folder: Path, model: str = "null_embedder") -> TritonServer:
    return TritonServer(Child(name, folder), (model,), port, host=host, repository=MODELS)


def served(server: TritonServer, model: str = "null_embedder") -> int:
    """Requests this server has answered."""
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=5) as page:
        lines = page.read().decode().splitlines()
    counts = [line for line in lines if line.startswith("nv_inference_request_success{") and model in line]
    return int(float(counts[0].split()[-1]))


async def asked(role: ModelServer, calls: int, tally: Counter[str]) -> None:
    """Asks one call after another and counts how they end."""
    for _ in range(calls):
        try:
            await role.embed("null_embedder", "text", "query", seconds=20)
            tally["answered"] += 1
        except RadragError as error:
            tally[type(error).__name__] += 1


async def load(role: ModelServer, calls: int, streams: int = 4) -> Counter[str]:
    tally: Counter[str] = Counter()
    await asyncio.gather(*(asked(role, calls // streams, tally) for _ in range(streams)))
    return tally


async def test_replicas_take_turns_one_is_killed_and_one_is_added_under_load(tmp_path: Path) -> None:
    port = free_grpc_port()
    first = replica("first", "127.0.0.1", port, tmp_path)
    second = replica("second", ANOTHER, port, tmp_path)
    with names("127.0.0.1") as dns:
        async with lent(first):
            role = ModelServer(dns.target(port), "embedder")
            assert await load(role, 40) == {"answered": 40}
            async with lent(second):
                before = served(first)
                dns.addresses = ("127.0.0.1", ANOTHER)
                seconds = await _until_found(role, second)
                assert seconds < 60, "a re-resolve after scale-out takes too long"
                start = served(first), served(second)
                assert await load(role, 200) == {"answered": 200}
                shares = served(first) - start[0], served(second) - start[1]
                print(f"found after {seconds:.0f} s; shares {shares}; before {before}")  # noqa: T201 - what was measured
                assert min(shares) > 0.3 * sum(shares)
                running = asyncio.create_task(load(role, 400))
                await asyncio.sleep(0.3)
                second.kill()
                dns.addresses = ("127.0.0.1",)
                tally = await running
                print(f"killed under load: {dict(tally)}")  # noqa: T201
                # What was being computed there is lost, a call a stream at most; nothing waits for the dead.
                assert tally["answered"] >= 396
                assert await load(role, 100) == {"answered": 100}
            await role.close()


async def _until_found(role: ModelServer, server: TritonServer) -> float:
    """Keeps asking, as a service does, until the server has answered something."""
    began, start = time.monotonic(), served(server)
    while served(server) == start and time.monotonic() - began < 90:
        await load(role, 8)
        await asyncio.sleep(0.5)
    return time.monotonic() - began


async def test_rerankers_behind_a_list_of_addresses_share_the_pairs(tmp_path: Path) -> None:
    ports = free_grpc_port(), free_grpc_port()
    pair = [replica(f"r{port}", "127.0.0.1", port, tmp_path, "null_reranker") for port in ports]
    async with lent(pair[0]), lent(pair[1]):
        role = ModelServer("ipv4:" + ",".join(one.grpc for one in pair), "reranker")
        for server in pair:  # both connections are up before shares are counted
            while not served(server, "null_reranker"):
                await role.rerank("null_reranker", "question", ["passage"])
        start = [served(server, "null_reranker") for server in pair]
        for _ in range(50):
            await role.rerank("null_reranker", "question", ["passage"] * 5)
        shares = [served(server, "null_reranker") - one for server, one in zip(pair, start, strict=True)]
        assert sum(shares) == 50
        assert min(shares) >= 20, shares
        await role.close()


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("10.0.0.1", "10.0.0.2")])
def test_the_name_server_answers_as_one_does(addresses: tuple[str, ...]) -> None:
    question = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x06models\x04test\0\0\x01\0\x01"
    reply = Names(0, addresses).reply(question)
    assert reply[:2] == question[:2]
    assert reply[6:8] == bytes([0, len(addresses)])
    assert reply.endswith(bytes([10, 0, 0, len(addresses)]))
