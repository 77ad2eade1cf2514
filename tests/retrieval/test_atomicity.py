"""Nobody ever sees half a publication: not while it runs, not when its caller goes away, not after a kill."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from radrag.errors import Unavailable
from radrag.retrieval.v1 import retrieval_pb2 as wire
from retrieval.edge_store import EdgeStore
from retrieval.index import Index
from retrieval.publication import Batch
from retrieval.store import Collection, Point
from retrieval.versions import Versions
from tests.retrieval.making import EMBEDDER, TOPICS, Made, embedder_message, made, vector
from tests.retrieval.running import publish, room, service


def moving(n: int) -> Made:
    """Version `n` of one document that changes its topic now and then, or only its title."""
    text = f"The moving document says {n // 2}."
    return made("moving", text, f"More of {n // 2}.", topic=TOPICS[n // 3 % 7], title=f"Title {n}")


def about_moving() -> wire.SearchRequest:
    return wire.SearchRequest(
        question="moving document",
        vector=vector("moving document"),
        embedder=embedder_message(EMBEDDER),
        document_ids=["moving"],
    )


async def test_four_readers_see_exactly_one_version_through_200_publications(tmp_path: Path) -> None:
    async with service(tmp_path) as (stub, here):
        await publish(stub, moving(0))
        done, seen = asyncio.Event(), []

        async def reader() -> None:
            while not done.is_set():
                found = await stub.Search(about_moving())
                seen.append({(one.document.version, one.document.title) for one in found.parents})
                assert len(found.parents) == 2

        async def writer() -> None:
            for n in range(1, 201):
                assert (await publish(stub, moving(n))).changed
            done.set()

        await asyncio.gather(writer(), *(reader() for _ in range(4)))
        assert {len(versions) for versions in seen} == {1}
        assert len({next(iter(versions)) for versions in seen}) > 20  # they did look in between
        await here.index.settle()
        left = [await here.store.count(Collection("g1", topic), ()) for topic in TOPICS]
        # 101 texts, two parents and two children each; the titles they were first given are gone.
        assert sum(left) == 101 * 4


async def test_a_reader_in_an_old_view_still_finds_what_was_replaced_meanwhile(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.publish(moving(0))
        async with here.index.reading() as view:
            await here.publish(moving(3))
            await asyncio.sleep(0.1)  # a chore that did not wait would be done by now
            assert view.generation is not None
            (edition,) = view.generation.versions
            topic = view.generation.versions[edition].document.topic
            assert await here.store.count(Collection("g1", topic), ()) == 4


@pytest.mark.parametrize("after", [0.0, 0.001, 0.003, 0.01, 0.03])
async def test_a_cancelled_publication_is_wholly_there_or_wholly_not(tmp_path: Path, after: float) -> None:
    async with room(tmp_path) as here:
        await here.publish(made("other", "Other."))
        task = asyncio.create_task(here.publish(moving(0)))
        await asyncio.sleep(after)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await here.index.settle()
        found = await here.documents("moving", document_ids=("moving",))
        points = await here.store.count(Collection("g1", "safety"), ())
        assert (len(found), points) in {(0, 2), (2, 6)}
        assert await here.versions.chores() == []


async def test_two_publications_of_one_document_stand_in_line(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await asyncio.gather(*(here.publish(moving(n)) for n in range(6)))
        found = await here.search("moving", document_ids=("moving",))
        assert len({one.document.title for one in found.parents}) == 1


async def test_a_slow_publication_holds_up_no_other(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.publish(made("first", "First."))
        released = asyncio.Event()
        slow = asyncio.create_task(here.index.publish(moving(0).header, stalled(moving(0), released)))
        await asyncio.wait_for(here.publish(made("second", "Second.")), 10)
        assert await here.documents("second", document_ids=("second",)) == ["second"]
        released.set()
        await slow


async def stalled(one: Made, released: asyncio.Event) -> AsyncIterator[Batch]:
    yield Batch(one.parents, [])
    await released.wait()
    yield Batch([], one.children)


class Late(EdgeStore):
    """Its first asker learns only on release which generation was the current one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked, self.released = asyncio.Event(), asyncio.Event()

    async def current(self) -> str:
        found = await super().current()
        if not self.asked.is_set():
            self.asked.set()
            await self.released.wait()
        return found


async def test_of_two_first_publications_the_later_does_not_undo_the_earlier(tmp_path: Path) -> None:
    """The slow one saw an empty index, and comes to the version table when the other one is in it."""
    table = f"sqlite:///{tmp_path / 'versions.sqlite'}"
    store = Late(tmp_path / "edge")
    store.asked.set()  # the room's own start asks too
    async with room(tmp_path, store) as here:
        store.asked.clear()
        other = Versions(table, shared=True)
        slow_index = Index(store, other, here.bm25)
        slow_one = made("slow", "Slow.")
        slow = asyncio.create_task(slow_index.publish(slow_one.header, slow_one.batches()))
        await store.asked.wait()
        await here.publish(made("fast", "Fast."))
        store.released.set()
        await slow
        held = (await other.refresh()).generations["g1"].live()
        assert {one.document.document_id for one in held} == {"fast", "slow"}
        await slow_index.settle()
        await other.close()


class Lossy(EdgeStore):
    """Loses a point of every write."""

    async def write(self, collection: Collection, points: Sequence[Point]) -> None:
        await super().write(collection, points[1:])


async def test_a_store_that_lost_points_is_never_committed(tmp_path: Path) -> None:
    async with room(tmp_path, Lossy(tmp_path / "edge")) as here:
        with pytest.raises(Unavailable, match="of 2 parent points"):
            await here.publish(moving(0))
        assert (await here.search("moving")).parents == []
