"""A role as several Triton servers: calls take turns, one that dies is left out, a new one is found."""

import asyncio
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from deploy.observability import rules
from deploy.observability.boards import model_servers
from radrag.errors import RadragError
from radrag.triton import ModelServer
from tests.integration.conftest import MODELS, lent
from tests.integration.names import Names, names
from tests.ports import free_grpc_port, free_port
from tests.prometheus import prometheus
from tests.results import kept

HERE, ANOTHER = "127.0.0.1", "127.0.0.2"  # one port at two addresses: what two pods behind one name are
STREAMS = 4  # callers of a role, each with one call at a time
PAUSE = 0.02  # seconds between a caller's calls: the load lasts through all that happens to the servers


def replica(name: str, host: str, port: int, folder: Path, model: str = "null_embedder") -> TritonServer:
    return TritonServer(Child(name, folder), (model,), port, host=host, repository=MODELS)


def served(server: TritonServer) -> int:
    """Requests this server has answered."""
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    counts = [line for line in lines if line.startswith("nv_inference_request_success{")]
    return sum(int(float(line.split()[-1])) for line in counts)


@dataclass
class Role:
    """One role under load: its name's port, its two servers, and how its calls ended so far."""

    model: str
    port: int
    folder: Path
    ask: Callable[[ModelServer], Awaitable[object]]
    ended: Counter[str] = field(default_factory=Counter)

    def server(self, host: str) -> TritonServer:
        return replica(f"{self.model}-{host}", host, self.port, self.folder, self.model)

    @asynccontextmanager
    async def under_load(self, dns: Names) -> AsyncIterator[None]:
        """Callers that ask on and on until the block ends."""
        server, stop = ModelServer(dns.target(self.port), self.model), asyncio.Event()
        running = [asyncio.create_task(self._asked(server, stop)) for _ in range(STREAMS)]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*running)
            await server.close()

    async def _asked(self, server: ModelServer, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                await self.ask(server)
                self.ended["answered"] += 1
            except RadragError as error:
                self.ended[type(error).__name__] += 1
            await asyncio.sleep(PAUSE)

    def failed(self) -> int:
        return self.ended.total() - self.ended["answered"]

    async def more(self, calls: int, seconds: float = 120) -> Counter[str]:
        """How the next calls end."""
        before = Counter(self.ended)
        async with asyncio.timeout(seconds):
            while (self.ended - before).total() < calls:
                await asyncio.sleep(0.1)
        return self.ended - before


def roles(folder: Path) -> list[Role]:
    return [
        Role("null_embedder", free_grpc_port(), folder, lambda one: one.embed("null_embedder", "t", "query")),
        Role(
            "null_reranker",
            free_grpc_port(),
            folder,
            lambda one: one.rerank("null_reranker", "q", ["p"] * 13),
        ),
    ]


async def test_replicas_take_turns_one_is_added_and_one_killed_under_load(tmp_path: Path) -> None:
    """Two embedders and two rerankers at once; all through it their callers never stop asking."""
    both = roles(tmp_path)
    with names(HERE) as dns:
        async with AsyncExitStack() as until:
            for role in both:
                await until.enter_async_context(lent(role.server(HERE)))
                await until.enter_async_context(role.under_load(dns))
                await role.more(20)
            for role in both:
                await until.enter_async_context(lent(role.server(ANOTHER)))
            found = await _added(dns, both)
            await asyncio.to_thread(_the_panel_shows_both, both, tmp_path)
            shares = [await _shares(role, 200) for role in both]
            assert [role.failed() for role in both] == [0, 0], "nothing fails while a server is added"
            killed = await _killed(dns, both)
    for role, seconds, share, lost in zip(both, found, shares, killed, strict=True):
        figures = {"found_after_seconds": round(seconds, 1), "shares": share, "calls": role.ended.total()}
        kept(f"replicas_{role.model.removeprefix('null_')}", figures | {"failed_when_one_was_killed": lost})
        assert seconds < 60, "a re-resolve after scale-out takes too long"
        assert min(share) > 0.3 * sum(share)
        # What was being computed there is lost, a call a caller at most; nothing waits for the dead.
        assert lost <= STREAMS


async def _added(dns: Names, both: Iterable[Role]) -> list[float]:
    """Seconds from the name's having a second address until its server has answered something."""
    dns.addresses = (HERE, ANOTHER)
    began = time.monotonic()

    async def found(server: TritonServer) -> float:
        while not await asyncio.to_thread(served, server):
            assert time.monotonic() - began < 90, "never found"
            await asyncio.sleep(0.5)
        return time.monotonic() - began

    return list(await asyncio.gather(*(found(role.server(ANOTHER)) for role in both)))


def _the_panel_shows_both(both: Iterable[Role], folder: Path) -> None:
    """The dashboard's own query, of a Prometheus that scrapes the four servers while calls come in."""
    servers = [role.server(host) for role in both for host in (HERE, ANOTHER)]
    (panel,) = (one for one in model_servers.BOARD.panels if one.title == "Share per replica")
    (query,) = panel.queries
    expr = query.expr.replace("$__rate_interval", "1m")
    targets = {f"triton-{number}": one.metrics for number, one in enumerate(servers)}
    with prometheus(folder, free_port(), targets, rules.RULES) as server:
        server.wait(f"count({expr} > 0) == {len(servers)}")
        time.sleep(10)  # the servers are not scraped at one instant: a few calls more
        shares = {
            (one["metric"]["model"], one["metric"]["instance"]): float(one["value"][1])
            for one in server.query(expr)
        }
    assert {instance for _, instance in shares} == {one.metrics for one in servers}
    for role in both:
        parts = [share for (model, _), share in shares.items() if model == role.model]
        assert len(parts) == 2
        assert sum(parts) == pytest.approx(1)
        assert min(parts) > 0.3, shares


async def _shares(role: Role, calls: int) -> list[int]:
    """How many of the next calls each server answers."""
    pair = [role.server(HERE), role.server(ANOTHER)]
    before = [await asyncio.to_thread(served, one) for one in pair]
    assert set(await role.more(calls)) == {"answered"}
    return [await asyncio.to_thread(served, one) - was for one, was in zip(pair, before, strict=True)]


async def _killed(dns: Names, both: Iterable[Role]) -> list[int]:
    """Calls that fail when the first server dies; after that none does, and the one added has it all."""
    lost = []
    for role in both:
        before = role.failed()
        role.server(HERE).kill()
        await role.more(100)
        lost.append(role.failed() - before)
    dns.addresses = (ANOTHER,)
    for role in both:
        assert set(await role.more(100)) == {"answered"}
    return lost


async def test_rerankers_behind_a_list_of_addresses_share_the_pairs(tmp_path: Path) -> None:
    ports = free_grpc_port(), free_grpc_port()
    pair = [replica(f"r{port}", HERE, port, tmp_path, "null_reranker") for port in ports]
    async with lent(pair[0]), lent(pair[1]):
        role = ModelServer("ipv4:" + ",".join(one.grpc for one in pair), "reranker")
        for server in pair:  # both connections are up before shares are counted
            while not served(server):
                await role.rerank("null_reranker", "question", ["passage"])
        start = [served(server) for server in pair]
        for _ in range(50):
            await role.rerank("null_reranker", "question", ["passage"] * 5)
        shares = [served(server) - one for server, one in zip(pair, start, strict=True)]
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
