"""Snapshots of a Qdrant server: made when due, the newest kept, of our collections alone."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from radrag.errors import Unavailable
from retrieval.server_node import ServerNode
from retrieval.server_snapshots import Schedule, Snapshot
from tests.retrieval.qdrant_stand_in import running

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Node:
    """Two collections; a snapshot takes no time. `failing` makes the next verb fail."""

    def __init__(self, now: list[datetime]) -> None:
        self.now, self.failing = now, False
        self.kept: dict[str, list[Snapshot]] = {"radrag_g1_a": [], "radrag_g1_b": []}

    async def collections(self) -> Sequence[str]:
        if self.failing:
            raise Unavailable("gone")
        return list(self.kept)

    async def snapshots(self, collection: str) -> Sequence[Snapshot]:
        return list(self.kept[collection])

    async def make_snapshot(self, collection: str) -> None:
        self.kept[collection].append(Snapshot(f"s{self.now[0].isoformat()}", self.now[0]))

    async def drop_snapshot(self, collection: str, name: str) -> None:
        self.kept[collection] = [one for one in self.kept[collection] if one.name != name]


async def test_one_is_made_when_the_newest_is_old_enough_and_the_newest_are_kept() -> None:
    now = [NOON]
    node = Node(now)
    schedule = Schedule([node], hours=24, kept=3, now=lambda: now[0])
    made = []
    for hour in range(0, 24 * 6, 6):
        now[0] = NOON + timedelta(hours=hour)
        await schedule.once()
        made.append(len(node.kept["radrag_g1_a"]))
    assert made[:9] == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert [one.made for one in node.kept["radrag_g1_b"]] == [NOON + timedelta(days=day) for day in (3, 4, 5)]


async def test_a_second_process_with_the_same_schedule_makes_none_and_a_failing_node_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [NOON]
    broken, node = Node(now), Node(now)
    broken.failing = True
    for _ in range(2):
        await Schedule([broken, node], hours=1, now=lambda: now[0]).once()
    assert [len(one) for one in node.kept.values()] == [1, 1]
    assert "will be tried again" in caplog.text
    broken.failing = False
    await Schedule([broken], hours=1, now=lambda: now[0]).once()
    assert [len(one) for one in broken.kept.values()] == [1, 1]


async def test_a_server_is_asked_for_our_collections_alone() -> None:
    async with running() as server:
        node = ServerNode.at("http://127.0.0.1:1", grpc_port=server.port)
        await Schedule([node], hours=24, kept=1, now=lambda: NOON).once()
        await node.close()
    assert server.asked == [
        ("List", {}),
        ("ListSnapshots", {"collection_name": "radrag_g1_safety"}),
        ("CreateSnapshot", {"collection_name": "radrag_g1_safety"}),
        ("ListSnapshots", {"collection_name": "radrag_g1_safety"}),
        ("DeleteSnapshot", {"collection_name": "radrag_g1_safety", "snapshot_name": "old"}),
    ]
