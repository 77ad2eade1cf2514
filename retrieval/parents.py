"""Parents of the store: those that matched children lead to, and those asked for by id."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from radrag.errors import Internal
from retrieval.document import point_id
from retrieval.points import PARENT, parent_of
from retrieval.question import FoundChild, FoundParent
from retrieval.snapshot import Generation
from retrieval.store import Among, Collection, Record, Store


async def of_children(
    store: Store, generation: Generation, children: Iterable[FoundChild]
) -> list[FoundParent]:
    """The distinct parents of the children, in the order of their best child."""
    led: dict[tuple[str, str], list[FoundChild]] = {}
    for child in children:
        led.setdefault((child.hit.edition, child.hit.parent_id), []).append(child)
    records = await _fetch(store, generation, list(led))
    return [
        FoundParent(parent_of(records[point_id(*key)]), generation.versions[key[0]].document, tuple(matched))
        for key, matched in led.items()
    ]


async def _fetch(store: Store, generation: Generation, keys: list[tuple[str, str]]) -> Mapping[str, Record]:
    """The parents' points by id, of (edition, parent id)."""
    by_topic: dict[str, list[str]] = {}
    for edition, parent_id in keys:
        topic = generation.versions[edition].document.topic
        by_topic.setdefault(topic, []).append(point_id(edition, parent_id))
    fetches = [store.fetch(Collection(generation.name, topic), ids) for topic, ids in by_topic.items()]
    records = {record.point_id: record for record in chain.from_iterable(await asyncio.gather(*fetches))}
    if len(records) < len(keys):
        raise Internal("the index lacks a parent of a child it has")
    return records


May: TypeAlias = Callable[[str], bool]


def anything(topic: str) -> bool:
    """Every topic."""
    return True


async def by_ids(
    store: Store,
    generation: Generation,
    parent_ids: Sequence[str],
    labels: frozenset[str],
    may: May = anything,
) -> list[FoundParent]:
    """The parents of these ids that a caller with these labels may see, superseded ones too.

    Only the collections of topics that the caller may see are asked.
    """
    where = (
        Among("level", (PARENT,)),
        Among("passage_id", tuple(parent_ids)),
        Among("access_labels", tuple(sorted(labels))),
    )
    collections = [Collection(generation.name, topic) for topic in sorted(generation.topics) if may(topic)]
    pages = await asyncio.gather(*(store.find(collection, where) for collection in collections))
    found: dict[str, FoundParent] = {}
    for collection, page in zip(collections, pages, strict=True):
        for parent in filter(None, (_published(record, generation, collection) for record in page)):
            found[parent.parent.parent_id] = parent
    return [found[one] for one in dict.fromkeys(parent_ids) if one in found]


def _published(record: Record, generation: Generation, collection: Collection) -> FoundParent | None:
    version = generation.versions.get(str(record.payload["edition"]))
    if version is None or version.document.topic != collection.topic:
        return None
    return FoundParent(parent_of(record), version.document, ())
