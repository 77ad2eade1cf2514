"""Parsing on a cluster: who gets which file, what a lost worker costs; a real Ray where it is installed."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from importlib.util import find_spec

import pytest

from ingest.cluster import Ask, Refused, Worker, Workers, asked, cluster
from ingest.document import Parsed
from ingest.load import Source
from ingest.reader import Care
from ingest.reading import DEFAULT
from radrag.errors import FailedPrecondition, InvalidArgument, Unavailable
from tests.ingest import files

PAGE = Source("a.md", "markdown", b"# Doses\n\nThe dose is 5 mSv.\n")
EMPTY = Source("b.md", "markdown", b"\n")


def counted(most: list[int]) -> Ask:
    """A worker that notes when it is asked while it works."""
    working = 0

    async def ask(source: Source) -> Parsed | Refused:
        nonlocal working
        working += 1
        most.append(working)
        await asyncio.sleep(0.01)
        working -= 1
        return await Worker(Care(), DEFAULT).parse(source)

    return ask


async def test_each_worker_has_one_file_at_a_time_and_all_work() -> None:
    one, other = list[int](), list[int]()
    workers = Workers([counted(one), counted(other)])
    found = await asyncio.gather(*(workers.parse(PAGE) for _ in range(8)))
    assert {parsed.title for parsed in found} == {"Doses"}
    assert (workers.size, set(one + other), len(one), len(other)) == (2, {1}, 4, 4)


async def test_a_refusal_comes_back_with_its_field_and_costs_no_worker() -> None:
    workers = Workers([Worker(Care(), DEFAULT).parse])
    with pytest.raises(InvalidArgument, match="no text") as failure:
        await workers.parse(EMPTY)
    assert failure.value.field == "content"
    assert (await workers.parse(PAGE)).title == "Doses"


class Lost(Exception):
    """What the cluster raises when a machine is gone."""


class Remote:
    """An actor whose method is asked as Ray's are."""

    def __init__(self, parse: Callable[[Source], Awaitable[Parsed]]) -> None:
        self.parse = self
        self.remote = parse


async def test_a_lost_machine_is_no_fault_of_the_file() -> None:
    async def gone(source: Source) -> Parsed:
        raise Lost

    workers = Workers([asked(Remote(gone), Lost)])
    for _ in range(2):  # the worker is asked again: Ray starts it anew
        with pytest.raises(Unavailable, match=r"the worker that read a\.md was lost"):
            await workers.parse(PAGE)


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_extra_is_named() -> None:
    with (
        pytest.raises(FailedPrecondition, match=r"pip install 'radrag\[ray\]'"),
        cluster("local", Care(), DEFAULT),
    ):
        pass


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (extra ray)")
async def test_a_real_cluster_reads_as_this_machine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "RAY_USAGE_STATS_ENABLED", "0")
    story = [files.heading("Protocol"), files.body("The dose is 5 mSv. " * 9)]
    pdf = Source("p.pdf", "pdf", files.pdf(story))
    with cluster("local", Care(), DEFAULT) as workers:
        found = await asyncio.gather(*map(workers.parse, [pdf, PAGE, pdf]))
        with pytest.raises(InvalidArgument, match="no text"):
            await workers.parse(EMPTY)
    here = Worker(Care(), DEFAULT)
    assert found == [await here.parse(pdf), await here.parse(PAGE), await here.parse(pdf)]
