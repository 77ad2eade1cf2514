"""Faults done to running processes: the status, what the reply says it lacked, when all is well again.

Slow: `make faults` runs it (RADRAG_TEST_FAULTS=1). Times have no room for a machine that is busy with more.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from cli import supervision
from cli.terminal import Terminal
from radrag.client import AsyncClient
from radrag.errors import RadragError
from tests.faults.standing import DEADLINE, QUESTION, SPARE, Standing, search, serving, standing, until, well

pytestmark = pytest.mark.skipif(
    not os.environ.get("RADRAG_TEST_FAULTS"), reason="slow: make faults runs it (RADRAG_TEST_FAULTS=1)"
)
ALL_OF_TRITON = frozenset({"embedder", "reranker", "generator"})
MODELS_BACK = 12.0  # seconds: a breaker's pause and a connection's back-off, 5 s each
READY_AGAIN = 2.0
Note = Callable[[str, object], None]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(tmp_path_factory.mktemp("faults")) as one:
        yield one


@pytest.fixture
async def address(here: Standing) -> str:
    """Of a gateway to which nothing was done yet, or which is over it."""
    try:
        await until(lambda: well(here.stack.gateway), 60)
    except TimeoutError:
        pytest.fail(f"not well yet: {await search(here.stack.gateway)}")
    return here.stack.gateway


async def test_triton_killed_costs_its_parts_and_they_are_back_after_its_restart(
    here: Standing, address: str, record_property: Note
) -> None:
    here.triton.kill()
    seen = await search(address)
    await here.triton.stop()
    await here.triton.start()
    assert (seen.code, seen.degraded) == ("OK", ALL_OF_TRITON)
    assert seen.seconds < DEADLINE + SPARE
    record_property("recovered", await until(lambda: well(address), MODELS_BACK))


async def test_triton_paused_costs_its_parts_within_the_deadline(
    here: Standing, address: str, record_property: Note
) -> None:
    here.signal("triton", signal.SIGSTOP)
    try:
        seen = await search(address)
    finally:
        here.signal("triton", signal.SIGCONT)
    assert (seen.code, seen.degraded) == ("OK", ALL_OF_TRITON)
    assert seen.seconds < DEADLINE + SPARE
    record_property("recovered", await until(lambda: well(address), MODELS_BACK))


async def test_a_model_that_triton_unloads_costs_its_part_alone(
    here: Standing, address: str, record_property: Note
) -> None:
    await asyncio.to_thread(here.model, "null_reranker", "unload")
    seen = await search(address)
    await asyncio.to_thread(here.model, "null_reranker", "load")
    assert (seen.code, seen.degraded) == ("OK", frozenset({"reranker"}))
    record_property("recovered", await until(lambda: well(address), MODELS_BACK))


async def test_retrieval_killed_is_unavailable_and_back_after_its_restart(
    here: Standing, address: str, record_property: Note
) -> None:
    here.signal("retrieval", signal.SIGKILL)
    seen = await search(address)
    await here.start("retrieval")
    assert (seen.code, seen.degraded) == ("UNAVAILABLE", frozenset())
    assert seen.seconds < DEADLINE + SPARE
    record_property("recovered", await until(lambda: well(address), READY_AGAIN + SPARE))


async def test_retrieval_paused_costs_its_stage_time_and_no_more(
    here: Standing, address: str, record_property: Note
) -> None:
    here.signal("retrieval", signal.SIGSTOP)
    try:
        seen = await search(address)
    finally:
        here.signal("retrieval", signal.SIGCONT)
    assert seen.code == "DEADLINE_EXCEEDED"
    assert seen.seconds < DEADLINE + SPARE
    record_property("recovered", await until(lambda: well(address), READY_AGAIN + SPARE))


async def test_retrieval_restarted_under_load_fails_no_call_that_has_time(
    here: Standing, address: str, record_property: Note
) -> None:
    retrieval = here.stack.services["retrieval"]
    async with asking(here.second.gateway) as tally:  # whose searches may take as long as this machine needs
        await asyncio.sleep(1)
        await supervision.down([retrieval.child])
        await here.start("retrieval")
        record_property("recovered", await until(lambda: well(address), READY_AGAIN + SPARE))
        await asyncio.sleep(1)
    assert set(tally) == {"OK"}, tally
    assert tally["OK"] > 10


async def test_two_gateways_restarted_in_turn_fail_no_call(
    here: Standing, address: str, record_property: Note
) -> None:
    gateways = [one.services["gateway"] for one in (here.stack, here.second)]
    both = "ipv4:" + ",".join((here.stack.gateway, here.second.gateway))
    slowest = 0.0
    async with asking(both) as tally:
        await asyncio.sleep(2)
        for one, at in zip(gateways, (here.stack.gateway, here.second.gateway), strict=True):
            await supervision.down([one.child])
            await supervision.up([one], Terminal(), 60)
            slowest = max(slowest, await until(lambda at=at: serving(at), READY_AGAIN))  # type: ignore[misc]
            await asyncio.sleep(6)  # until callers have found it again
        calls = sum(tally.values())
    assert set(tally) == {"OK"}, tally
    assert calls > 20
    record_property("recovered", slowest)


@asynccontextmanager
async def asking(address: str, at_once: int = 4) -> AsyncIterator["Counter[str]"]:
    """Calls of both kinds, one after another, while the block runs; how they ended."""
    tally, going = Counter[str](), True

    async def one(client: AsyncClient, *, streams: bool) -> None:
        while going:
            try:
                if streams:
                    frames = [frame async for frame in client.stream(QUESTION)]
                    tally["OK" if not frames[-1].finish.HasField("error") else "broken off"] += 1
                else:
                    reply = await client.search(QUESTION)
                    tally["OK" if reply.ranked_parents else "nothing found"] += 1
            except RadragError as error:
                tally[error.reason] += 1

    async with AsyncClient(address, deadline=30) as client:
        running = [asyncio.create_task(one(client, streams=bool(n % 2))) for n in range(at_once)]
        try:
            yield tally
        finally:
            going = False
            await asyncio.gather(*running)
