"""What is read of a shard of the embedded store: hits of queries, and records that meet conditions."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import qdrant_edge as qdrant

from retrieval import edge_terms
from retrieval.edge_terms import Known
from retrieval.points import CHILD
from retrieval.store import Among, Hit, Record, Where

PAGE = 1000
MOST_KNOWN = 200_000  # points of a collection whose fields are remembered: 350 bytes each


def hits(shard: qdrant.EdgeShard, requests: Sequence[qdrant.QueryRequest], known: Known) -> list[list[Hit]]:
    """The hits of some queries. Payloads are read of those points only that were never met before."""
    found = shard.query_batch(qdrant.QueryBatchRequest(list(requests)))
    lists = [[(point.id, point.score) for point in points] for points in found]  # an id is dear to read
    try:
        return [[Hit(score, *known[one]) for one, score in points] for points in lists]
    except KeyError:
        _meet(shard, {one for points in lists for one, _ in points}, known)
    return [[Hit(score, *known[one]) for one, score in points if one in known] for points in lists]


def known(shard: qdrant.EdgeShard) -> Known:
    """What hits of a shard say, of its first `MOST_KNOWN` children; read in order it costs a fifth."""
    found: Known = {}
    for page in _pages(shard, (Among("level", (CHILD,)),), edge_terms.HIT):
        found.update(edge_terms.fields(page))
        if len(found) >= MOST_KNOWN:
            break
    return found


def _meet(shard: qdrant.EdgeShard, points: set[int | UUID | str], known: Known) -> None:
    """Makes these points known, as many as there still are."""
    new = points - known.keys()
    if len(known) > MOST_KNOWN:
        known.clear()
        new = points
    known.update(edge_terms.fields(shard.retrieve(list(new), edge_terms.HIT, False)))


def records(shard: qdrant.EdgeShard, where: Where) -> Iterator[Record]:
    """The records that meet the conditions, a page at a time."""
    for page in _pages(shard, where, True):
        yield from (Record(str(point.id), point.payload or {}) for point in page)


def _pages(
    shard: qdrant.EdgeShard, where: Where, payload: bool | qdrant.PayloadSelector
) -> Iterator[list[qdrant.Record]]:
    offset = None
    while True:
        found, offset = shard.scroll(
            qdrant.ScrollRequest(
                offset=offset,
                limit=PAGE,
                filter=edge_terms.filter_of(where),
                with_payload=payload,
                with_vector=False,
            )
        )
        yield found
        if offset is None:
            return
