"""The contract of a store: held against the embedded one, the client's in-memory one, and a live server."""

import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from radrag.errors import Unavailable
from retrieval.bm25 import SparseVector
from retrieval.edge_store import EdgeStore
from retrieval.server_store import ServerStore, connect
from retrieval.store import Above, Among, AtMost, Collection, Point, Store

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect", "ignore:Local mode performs exact"
)
LIVE = os.environ.get("RADRAG_TEST_QDRANT_URL", "")
HERE = Collection("g1", "safety")


@pytest.fixture(params=["edge", "memory", *(["live"] if LIVE else [])])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store
    if request.param == "edge":
        opened = EdgeStore(tmp_path)
    elif request.param == "memory":
        opened = ServerStore(AsyncQdrantClient(":memory:"))
    else:
        opened = ServerStore(connect(LIVE))
    for topic in ("safety", "physics"):
        for generation in ("g1", "g2"):
            await opened.drop(Collection(generation, topic))
    await opened.create(HERE, 2)
    yield opened
    await opened.close()


def identity(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def child(name: str, x: float, y: float, words: dict[int, float], **fields: str | int | list[str]) -> Point:
    payload: dict[str, str | int | list[str] | list[int]] = {
        "edition": "e1",
        "level": "child",
        "passage_id": name,
        "parent_id": "p",
        "start": 0,
        "end": 1,
        "access_labels": ["public"],
        "valid_from": 10,
        "valid_to": 20,
        **fields,
    }
    return Point(identity(name), payload, (x, y), SparseVector(tuple(words), tuple(words.values())))


PARENT = Point(
    identity("p"), {"edition": "e1", "level": "parent", "passage_id": "p", "text": "Й й", "pages": [1]}
)
POINTS = [
    child("a", 1.0, 0.0, {7: 1.0, 9: 2.0}),
    child("b", 0.6, 0.8, {7: 3.0}, access_labels=["secret", "nurses"], valid_from=11),
    child("c", 0.0, 1.0, {8: 1.0}, edition="e2", language="ru", valid_to=2**31 - 1),
    PARENT,
]


async def found(
    store: Store, query: tuple[float, ...] | SparseVector, *where: object, limit: int = 9
) -> list[str]:
    return [hit.passage_id for hit in await store.nearest(HERE, query, where, limit)]  # type: ignore[arg-type]


async def test_the_dense_leg_orders_by_cosine_and_never_returns_parents(store: Store) -> None:
    await store.write(HERE, POINTS)
    hits = await store.nearest(HERE, (0.8, 0.6), (), 9)
    assert [hit.passage_id for hit in hits] == ["b", "a", "c"]
    assert [hit.score for hit in hits] == pytest.approx([0.96, 0.8, 0.6], abs=1e-5)
    assert (hits[1].edition, hits[1].parent_id, hits[1].start, hits[1].end) == ("e1", "p", 0, 1)


async def test_the_bm25_leg_is_the_plain_product_without_the_stores_own_idf(store: Store) -> None:
    await store.write(HERE, POINTS)
    hits = await store.nearest(HERE, SparseVector((7, 9), (0.5, 2.0)), (), 9)
    assert {hit.passage_id: hit.score for hit in hits} == pytest.approx({"a": 4.5, "b": 1.5})


async def test_a_leg_stops_at_its_limit(store: Store) -> None:
    await store.write(HERE, POINTS)
    assert await found(store, (0.8, 0.6), limit=2) == ["b", "a"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ((), {"a", "b", "c"}),
        ((Among("access_labels", ("public",)),), {"a", "c"}),
        ((Among("access_labels", ("public", "nurses")),), {"a", "b", "c"}),
        ((Among("access_labels", ("nobody",)),), set()),
        ((Among("language", ("ru", "en")),), {"c"}),
        ((AtMost("valid_from", 10),), {"a", "c"}),
        ((AtMost("valid_from", 9),), set()),
        ((Above("valid_to", 19),), {"a", "b", "c"}),
        ((Above("valid_to", 20),), {"c"}),
        ((Among("edition", ("e1",)), Above("valid_to", 19), AtMost("valid_from", 10)), {"a"}),
    ],
)
async def test_all_conditions_hold_in_both_legs(
    store: Store, where: tuple[object, ...], expected: set[str]
) -> None:
    await store.write(HERE, POINTS)
    assert set(await found(store, (0.8, 0.6), *where)) == expected
    assert set(await found(store, SparseVector((7, 8), (1.0, 1.0)), *where)) == expected


async def test_writing_twice_changes_nothing_and_writing_anew_replaces(store: Store) -> None:
    await store.write(HERE, POINTS)
    await store.write(HERE, POINTS)
    assert await store.count(HERE, ()) == 4
    await store.write(HERE, [child("a", 0.0, 1.0, {8: 5.0})])
    assert await store.count(HERE, ()) == 4
    assert await found(store, SparseVector((8,), (1.0,)), limit=1) == ["a"]


async def test_fetch_returns_the_payload_of_those_that_exist(store: Store) -> None:
    await store.write(HERE, POINTS)
    (record,) = await store.fetch(HERE, [identity("p"), identity("unknown")])
    assert (record.point_id, dict(record.payload)) == (identity("p"), dict(PARENT.payload))


async def test_find_returns_everything_that_meets_the_conditions(store: Store) -> None:
    many = [child(f"n{n}", 1.0, n, {n: 1.0}, edition="many") for n in range(2500)]
    await store.write(HERE, [*POINTS, *many])
    records = await store.find(HERE, (Among("edition", ("many",)),))
    assert {record.payload["passage_id"] for record in records} == {f"n{n}" for n in range(2500)}
    assert await store.count(HERE, (Among("edition", ("many",)),)) == 2500


async def test_delete_removes_exactly_what_meets_the_conditions(store: Store) -> None:
    await store.write(HERE, POINTS)
    await store.delete(HERE, (Among("edition", ("e1",)), Among("level", ("child",))))
    assert {record.payload["passage_id"] for record in await store.find(HERE, ())} == {"c", "p"}


async def test_a_new_last_day_is_filtered_by(store: Store) -> None:
    await store.write(HERE, POINTS)
    await store.set_valid_to(HERE, (Among("edition", ("e2",)),), 15)
    assert set(await found(store, (0.8, 0.6), Above("valid_to", 15))) == {"a", "b"}


async def test_collections_do_not_see_each_other(store: Store) -> None:
    other = Collection("g2", "safety")
    await store.create(other, 2)
    await store.write(HERE, POINTS[:1])
    await store.write(other, POINTS[1:2])
    assert await found(store, (0.8, 0.6)) == ["a"]
    assert [hit.passage_id for hit in await store.nearest(other, (0.8, 0.6), (), 9)] == ["b"]


async def test_creating_again_keeps_what_is_there(store: Store) -> None:
    await store.write(HERE, POINTS)
    await store.create(HERE, 2)
    assert await store.count(HERE, ()) == 4


async def test_the_pointer_moves_all_topics_at_once_and_back(store: Store) -> None:
    for collection in (Collection("g1", "physics"), Collection("g2", "safety"), Collection("g2", "physics")):
        await store.create(collection, 2)
    await store.point_to("g1", ["physics", "safety"])
    assert await store.current() == "g1"
    await store.point_to("g2", ["physics", "safety"])
    assert await store.current() == "g2"
    await store.point_to("g1", ["physics", "safety"])
    assert await store.current() == "g1"


async def test_a_dropped_collection_is_unavailable_not_empty(store: Store) -> None:
    await store.drop(HERE)
    await store.drop(HERE)
    with pytest.raises(Unavailable):
        await store.count(HERE, ())


async def test_a_vector_of_another_dimension_is_refused_without_naming_its_content(store: Store) -> None:
    with pytest.raises(Unavailable) as failure:
        await store.write(HERE, [Point(identity("x"), {"text": "private words"}, (1.0, 2.0, 3.0), None)])
    assert "private" not in failure.value.message
