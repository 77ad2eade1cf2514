"""What the server adapter asks of Qdrant: filters everywhere, waiting writes, settings, one alias request."""

from collections.abc import Awaitable, Callable
from inspect import signature
from pathlib import Path
from uuid import UUID

import pytest
from qdrant_client import AsyncQdrantClient, models

from radrag.settings import Settings
from retrieval import server_store
from retrieval.__main__ import open_store
from retrieval.server_store import ServerStore
from retrieval.store import INTEGERS, KEYWORDS, Collection, Payload, Point
from tests.retrieval.making import made
from tests.retrieval.running import TODAY, room

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect", "ignore:Local mode performs exact"
)


HIT: Payload = {"edition": "e1", "passage_id": "p", "parent_id": "q", "start": 0, "end": 1}


class Recorder:
    """A client in memory that notes what it was asked, by name and arguments."""

    def __init__(self) -> None:
        self.client = AsyncQdrantClient(":memory:")
        self.asked: list[tuple[str, dict[str, object]]] = []

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        method = getattr(self.client, name)

        async def call(*args: object, **kwargs: object) -> object:
            self.asked.append((name, signature(method).bind(*args, **kwargs).arguments))
            return await method(*args, **kwargs)

        return call

    def of(self, name: str) -> list[dict[str, object]]:
        return [arguments for asked, arguments in self.asked if asked == name]


async def recorded(tmp_path: Path, replicas: int = 3) -> Recorder:
    """The requests of publications, a search and a removal, one version among them not in force yet.

    Were all in force, no leg would have to look at days (test_search.py).
    """
    recorder = Recorder()
    store = ServerStore(recorder, shards=2, replicas=replicas)  # type: ignore[arg-type]
    async with room(tmp_path, store) as here:
        await here.publish(made("kidney", "Renal cysts."), made("liver", "Hepatic mass.", topic="anatomy"))
        await here.publish(made("later", "Renal stones.", valid_from=TODAY + 1))
        assert set(await here.documents("renal cysts")) == {"kidney", "liver"}
        await here.publish(made("kidney", "Renal masses."))
        await here.index.delete("liver")
        await here.index.tidy()
    return recorder


async def test_every_leg_of_every_collection_carries_the_whole_filter(tmp_path: Path) -> None:
    asked = (await recorded(tmp_path)).of("query_points")
    assert {(one["collection_name"], one["using"]) for one in asked} == {
        (f"radrag_g1_{topic}", leg) for topic in ("safety", "anatomy") for leg in ("dense", "bm25")
    }
    for one in asked:
        conditions = one["query_filter"].must  # type: ignore[attr-defined]
        own = ["language"] if one["using"] == "dense" else []  # the dense leg is one leg per language
        held = [condition.key for condition in conditions]
        assert held == ["access_labels", *own, "valid_from", "valid_to"]
        assert conditions[0].match == models.MatchAny(any=["public"])
        assert one["consistency"] == models.ReadConsistencyType.MAJORITY


async def test_every_write_waits_until_it_is_applied(tmp_path: Path) -> None:
    recorder = await recorded(tmp_path)
    for name in ("upsert", "delete", "set_payload", "create_payload_index"):
        asked = recorder.of(name)
        assert asked
        assert all(one["wait"] is True for one in asked)


async def test_a_collection_has_its_settings_and_its_indexes_before_its_first_point(tmp_path: Path) -> None:
    recorder = await recorded(tmp_path)
    made_with = recorder.of("create_collection")[0]
    assert made_with["shard_number"] == 2
    assert made_with["replication_factor"] == 3
    assert made_with["write_consistency_factor"] == 2
    assert made_with["sparse_vectors_config"]["bm25"].modifier is None  # type: ignore[index]
    names = [name for name, _ in recorder.asked]
    indexed = {one["field_name"] for one in recorder.of("create_payload_index")}
    assert indexed == {*KEYWORDS, *INTEGERS}
    assert names.index("upsert") > names.index("create_payload_index") + len(indexed) - 1


async def test_the_pointer_moves_in_one_request(tmp_path: Path) -> None:
    recorder = Recorder()
    store = ServerStore(recorder)  # type: ignore[arg-type]
    for generation in ("g1", "g2"):
        for topic in ("safety", "anatomy"):
            await store.create(Collection(generation, topic), 2)
    await store.point_to("g1", ["anatomy", "safety"])
    await store.point_to("g2", ["anatomy", "safety"])
    _, second = recorder.of("update_collection_aliases")
    assert [type(one).__name__ for one in second["change_aliases_operations"]] == [  # type: ignore[attr-defined]
        *["DeleteAliasOperation"] * 2,
        *["CreateAliasOperation"] * 2,
    ]


async def test_one_replica_needs_no_majority(tmp_path: Path) -> None:
    recorder = await recorded(tmp_path, replicas=1)
    assert recorder.of("create_collection")[0]["write_consistency_factor"] == 1
    assert recorder.of("query_points")[0]["consistency"] is None


async def test_a_collection_made_without_compression_goes_on_as_it_is(tmp_path: Path) -> None:
    recorder = Recorder()
    await ServerStore(recorder).create(Collection("g1", "safety"), 2)  # type: ignore[arg-type]
    store = ServerStore(recorder, compression="int8")  # type: ignore[arg-type]
    await store.create(Collection("g1", "safety"), 2)
    await store.write(Collection("g1", "safety"), [Point(str(UUID(int=1)), HIT, dense=(1.0, 0.0))])
    (found,) = await store.nearest(Collection("g1", "safety"), [1.0, 0.0], (), 1)
    assert found.passage_id == "p"
    (made,) = recorder.of("create_collection")
    assert made["quantization_config"] is None


async def test_the_settings_reach_the_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(server_store, "connect", lambda *_: recorder)
    given = Settings(store="server", vector_compression="int8", qdrant_shards=6, qdrant_replicas=2)
    await open_store(given).create(Collection("g1", "safety"), 2)
    (made,) = recorder.of("create_collection")
    assert isinstance(made["quantization_config"], models.ScalarQuantization)
    assert (made["shard_number"], made["replication_factor"]) == (6, 2)
