"""What is read of a shard of the embedded store: hits of queries, and records that meet conditions."""

from collections.abc import Iterator, Sequence

import qdrant_edge as qdrant

from retrieval import edge_terms
from retrieval.edge_terms import Known
from retrieval.store import Hit, Record, Where

PAGE = 1000
MOST_KNOWN = 200_000  # points of a collection whose fields are remembered: 350 bytes each


def hits(shard: qdrant.EdgeShard, requests: Sequence[qdrant.QueryRequest], known: Known) -> list[list[Hit]]:
    """The hits of some queries. Payloads are read of those points only that were never met before."""
    lists = shard.query_batch(qdrant.QueryBatchRequest(list(requests)))
    new = {point.id for points in lists for point in points} - known.keys()
    if new:
        if len(known) > MOST_KNOWN:
            known.clear()
            new = {point.id for points in lists for point in points}
        known.update(edge_terms.fields(shard.retrieve(list(new), edge_terms.HIT, False)))
    return [[Hit(point.score, *known[point.id]) for point in points if point.id in known] for points in lists]


def records(shard: qdrant.EdgeShard, where: Where) -> Iterator[Record]:
    """The records that meet the conditions, a page at a time."""
    offset = None
    while True:
        found, offset = shard.scroll(
            qdrant.ScrollRequest(
                offset=offset,
                limit=PAGE,
                filter=edge_terms.filter_of(where),
                with_payload=True,
                with_vector=False,
            )
        )
        yield from (Record(str(point.id), point.payload or {}) for point in found)
        if offset is None:
            return
