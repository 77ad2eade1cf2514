"""Every request of the server adapter as it goes over the wire, against the golden ones; over mutual TLS too.

RADRAG_TEST_RENEW=1 writes the golden file anew.
"""

import json
import os
from pathlib import Path

import pytest

from radrag.access.certificates import server_credentials
from radrag.access.channels import Files
from radrag.errors import Unavailable
from retrieval.bm25 import SparseVector
from retrieval.edge_terms import EF
from retrieval.server_store import ServerStore, connect
from retrieval.store import Above, Among, AtMost, Collection, Point
from tests.access.authority import Authority
from tests.retrieval.qdrant_stand_in import Said, running

GOLDEN = Path(__file__).parent / "golden" / "qdrant_requests.json"
PLACE = Collection("g1", "safety")
ID = "00000000-0000-5000-8000-000000000001"
WHERE = (Among("access_labels", ("public", "icu")), AtMost("valid_from", 20_000), Above("valid_to", 20_000))
CHILD = Point(
    ID,
    {"edition": "e1", "level": "child", "valid_from": 1, "valid_to": 2**31 - 1, "access_labels": ["public"]},
    dense=[0.5, -0.5], bm25=SparseVector((3, 7), (1.5, 0.25)),
)  # fmt: skip


async def every_verb(store: ServerStore) -> None:
    """Each verb of the store once, with the arguments of the golden requests."""
    await store.create(PLACE, 2)
    await store.write(PLACE, [CHILD, Point(ID.replace("1", "2"), {"level": "parent"})])
    await store.nearest(PLACE, [0.5, -0.5], WHERE, 15)
    await store.nearest(PLACE, SparseVector((3,), (1.0,)), WHERE, 15)
    await store.fetch(PLACE, [ID])
    await store.find(PLACE, WHERE)
    assert await store.count(PLACE, WHERE) == 3
    await store.set_valid_to(PLACE, WHERE, 20_001)
    await store.delete(PLACE, WHERE)
    await store.point_to("g1", ["safety", "anatomy"])
    assert await store.current() == "g0"
    await store.drop(PLACE)


async def asked(replicas: int, compression: str = "none") -> list[tuple[str, Said]]:
    async with running() as server:
        client = connect("http://127.0.0.1:1", grpc_port=server.port)
        store = ServerStore(client, 2, replicas, compression)
        await every_verb(store)
        await store.close()
    return server.asked


async def test_the_requests_are_the_golden_ones() -> None:
    found = {f"replicas {count}": await asked(count) for count in (1, 3)}
    for compression in ("int8", "binary"):
        said = await asked(1, compression)
        found[compression] = [one for one in said if one not in found["replicas 1"]]
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("RADRAG_TEST_RENEW"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), f"{GOLDEN.name}: RADRAG_TEST_RENEW=1?"


def golden(replicas: int, method: str) -> list[Said]:
    said = json.loads(GOLDEN.read_text(encoding="utf-8"))[f"replicas {replicas}"]
    return [request for name, request in said if name == method]


def test_the_golden_requests_are_right() -> None:
    """A golden file alone would keep a fault as faithfully as its absence."""
    for name in ("Upsert", "Delete", "SetPayload", "CreateFieldIndex"):
        assert golden(3, name)
        assert all(one["wait"] is True for one in golden(3, name)), name
    for name in ("Query", "Scroll", "Get"):
        assert all(one["read_consistency"] == {"type": "Majority"} for one in golden(3, name)), name
        assert all("read_consistency" not in one for one in golden(1, name)), name
    assert len(golden(3, "Query")) == 2
    for one in (*golden(3, "Query"), *golden(3, "Scroll"), *golden(3, "Count")):
        assert [condition["field"]["key"] for condition in one["filter"]["must"]] == [
            "access_labels", "valid_from", "valid_to",
        ]  # fmt: skip
    (made,) = golden(3, "Create")
    assert (made["shard_number"], made["replication_factor"], made["write_consistency_factor"]) == (2, 3, 2)
    (moved,) = golden(3, "UpdateAliases")
    assert [list(one) for one in moved["actions"]] == [["delete_alias"], ["create_alias"], ["create_alias"]]


@pytest.mark.parametrize(("compression", "oversampling"), [("int8", 2.0), ("binary", 4.0)])
def test_compressed_vectors_change_two_requests_and_are_compared_again_in_full(
    compression: str, oversampling: float
) -> None:
    (_, made), (method, searched) = json.loads(GOLDEN.read_text(encoding="utf-8"))[compression]
    kept = {
        "int8": {"scalar": {"type": "Int8", "always_ram": True}},
        "binary": {"binary": {"always_ram": True}},
    }
    assert made["quantization_config"] == kept[compression]
    assert made["vectors_config"]["params_map"]["map"]["dense"]["on_disk"] is True
    again = {"ignore": False, "rescore": True, "oversampling": oversampling}
    assert (method, searched["using"]) == ("Query", "dense")
    assert searched["params"]["quantization"] == again


def test_without_compression_none_is_made_and_what_a_collection_has_is_not_used() -> None:
    (made,), (dense, sparse) = golden(1, "Create"), golden(1, "Query")
    assert "quantization_config" not in made
    assert dense["params"]["quantization"]["ignore"] is True
    assert "params" not in sparse


@pytest.mark.parametrize("kind", ["replicas 1", "int8", "binary"])
def test_a_graph_is_searched_with_more_candidates_than_the_server_would_keep(kind: str) -> None:
    """Of 14,000 children its own number finds 0.92 of the nearest."""
    requests = json.loads(GOLDEN.read_text(encoding="utf-8"))[kind]
    (dense, *_) = [request for method, request in requests if method == "Query"]
    assert int(dense["params"]["hnsw_ef"]) == EF


async def test_qdrant_is_asked_over_mutual_tls_with_its_key(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    key = tmp_path / "key"
    key.write_text("qdrant-key\n")
    async with running(server_credentials(ours.files("qdrant", ours.path))) as server:
        url = "https://127.0.0.1:1"
        store = ServerStore(connect(url, str(key), ours.files("retrieval", ours.path), server.port))
        assert await store.current() == "g0"
        await store.close()
        assert server.keys == ["qdrant-key"]
        for own in (
            Files(authority=ours.path),
            theirs.files("retrieval", ours.path),
            ours.files("retrieval", theirs.path),
        ):
            stranger = ServerStore(connect(url, str(key), own, server.port))
            with pytest.raises(Unavailable):
                await stranger.current()
            await stranger.close()
        plain = ServerStore(connect("http://127.0.0.1:1", "", None, server.port))
        with pytest.raises(Unavailable):
            await plain.current()
        await plain.close()
        assert server.keys == ["qdrant-key"]
