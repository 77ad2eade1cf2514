"""What a vector store is asked, in the terms of qdrant-edge; and how its dense vectors are kept and searched.

Up to so many kilobytes of vectors a collection compares the question with every one; above, with those that
a graph leads to. Compressed vectors lie beside the full ones and are compared in their place; the best of
them, more than asked for, are compared again with the full ones, so a score is always the full vectors' own.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, TypeAlias
from uuid import UUID

import qdrant_edge as qdrant

from retrieval.bm25 import SparseVector
from retrieval.store import HIT_FIELDS, INTEGERS, KEYWORDS, Above, Among, AtMost, Payload, Point, Where

# Vectors of 1,536 numbers that a core compares in 6 ms: 16,000, twice as many of a byte. Of a bit 163,000:
# among 143,000 a scan finds more than a graph, in less time (benchmarks/profiles/search_limit.txt).
SCANNED_KILOBYTES = {"none": 100_000, "int8": 200_000, "binary": 1_000_000}
COMPRESSED_KILOBYTES = 1000  # less is not worth it
OVERSAMPLING = {"none": 1.0, "int8": 2.0, "binary": 4.0}
M, EF_CONSTRUCT = 16, 100
# Candidates that a search of a graph keeps: the engine's own number, 100, finds 0.92 of the 15 nearest among
# 14,000 children and two thirds among 143,000. There 512 find 0.995 and 0.93, and 1,536 of the latter 0.98
# (benchmarks/profiles/search_limit.txt).
EF, POINTS_A_CANDIDATE = 512, 128
HIT = qdrant.PayloadSelector.Include(list(HIT_FIELDS))

Fields: TypeAlias = tuple[str, str, str, int, int]
"""The values of HIT_FIELDS."""
Known: TypeAlias = dict[int | UUID | str, Fields]
"""They by point id: the same id never stands for other ones, unless it is written again."""


@dataclass(frozen=True)
class Dense:
    """The shape of dense vectors: `compression` none, int8 or binary; sizes are those of the full vectors.

    `scanned_kilobytes`: 0 for those of the compression. `ef`: candidates that a search of a graph keeps, 0
    for as many as its points want; a scan does without.
    """

    compression: str = "none"
    scanned_kilobytes: int = 0
    ef: int = 0

    @property
    def compressed(self) -> bool:
        """Whether there are compressed vectors."""
        return self.compression != "none"

    @property
    def scanned(self) -> int:
        """Kilobytes of vectors up to which the question is compared with each."""
        return self.scanned_kilobytes or SCANNED_KILOBYTES[self.compression]

    def graph(self, dimension: int, points: int) -> bool:
        """Whether so many points are too many to compare the question with the compressed vector of each."""
        return self.compressed and dimension * points * 4 > self.scanned * 1000

    def config(self, dimension: int, graph: bool = False) -> qdrant.EdgeConfig:
        """A collection of this shape. Whatever is optimized gets a graph, searched or not, unless M is 0."""
        links = 0 if self.compressed and not graph else M
        return qdrant.EdgeConfig(
            vectors={"dense": qdrant.EdgeVectorParams(size=dimension, distance=qdrant.Distance.Cosine)},
            sparse_vectors={"bm25": qdrant.EdgeSparseVectorParams()},
            hnsw_config=qdrant.HnswIndexConfig(links, EF_CONSTRUCT, self.scanned),
            quantization_config=self._compressed(),
            max_search_threads=1,  # as the engine holds Python's lock, more take CPU and save no time
            optimizers=qdrant.EdgeOptimizersConfig(
                indexing_threshold=COMPRESSED_KILOBYTES if self.compressed else self.scanned,
                deleted_threshold=0.5,
                vacuum_min_vector_number=10_000,
            ),
        )

    def request(
        self, query: Sequence[float] | SparseVector, where: Where, limit: int, points: int = 0
    ) -> qdrant.QueryRequest:
        """The nearest `limit` that meet the conditions, of about so many points."""
        return qdrant.QueryRequest(
            limit=limit,
            query=_query(query),
            filter=filter_of(where) if where else None,
            with_payload=False,
            params=None if isinstance(query, SparseVector) else self._params(points),
        )

    def _compressed(self) -> qdrant.ScalarQuantizationConfig | qdrant.BinaryQuantizationConfig | None:
        if self.compression == "int8":
            return qdrant.ScalarQuantizationConfig(qdrant.ScalarType.Int8, memory=qdrant.Memory.Pinned)
        if self.compression == "binary":
            return qdrant.BinaryQuantizationConfig(memory=qdrant.Memory.Pinned)
        return None

    def _params(self, points: int) -> qdrant.SearchParams:
        again = qdrant.QuantizationSearchParams(
            ignore=not self.compressed, rescore=self.compressed, oversampling=OVERSAMPLING[self.compression]
        )
        ef = self.ef or max(EF, points // POINTS_A_CANDIDATE)
        return qdrant.SearchParams(hnsw_ef=ef, quantization=again)


def fields(records: Iterable[qdrant.Record]) -> Known:
    """What hits say beside their score, by point id."""
    return {record.id: _fields(record.payload or {}) for record in records}


def fields_of(points: Iterable[Point]) -> Known:
    """The same of points as they are written; those without a vector are never hit."""
    return {UUID(one.point_id): _fields(one.payload) for one in points if one.dense or one.bm25}


def _fields(payload: Payload) -> Fields:
    edition, passage_id, parent_id, start, end = (payload[field] for field in HIT_FIELDS)
    # Many children have one edition, and some one parent.
    return intern(str(edition)), str(passage_id), intern(str(parent_id)), int(str(start)), int(str(end))


def dimension(folder: Path) -> int:
    """The dimension of the collection that lies in a folder."""
    return int(_config(folder)["vectors"]["dense"]["size"])


def linked(folder: Path) -> bool:
    """Whether the collection that lies in a folder is one that gets a graph."""
    return bool(_config(folder).get("hnsw_config", {}).get("m"))


def _config(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "edge_config.json").read_text(encoding="utf-8"))
    return told


def schema() -> list[tuple[str, qdrant.PayloadSchemaType]]:
    """The payload indexes of a collection."""
    keywords = [(field, qdrant.PayloadSchemaType.Keyword) for field in KEYWORDS]
    return keywords + [(field, qdrant.PayloadSchemaType.Integer) for field in INTEGERS]


def point(one: Point) -> qdrant.Point:
    """A point to be written."""
    vectors: dict[str, list[float] | qdrant.SparseVector | list[list[float]]] = {}
    if one.dense is not None:
        vectors["dense"] = list(one.dense)
    if one.bm25 is not None:
        vectors["bm25"] = qdrant.SparseVector(list(one.bm25.indices), list(one.bm25.values))
    return qdrant.Point(one.point_id, vectors, dict(one.payload))


def _query(query: Sequence[float] | SparseVector) -> qdrant.Query:
    if isinstance(query, SparseVector):
        sparse = qdrant.SparseVector(list(query.indices), list(query.values))
        return qdrant.Query.Nearest(sparse, using="bm25")
    return qdrant.Query.Nearest(list(query), using="dense")


@lru_cache(64)  # one search asks every topic the same
def filter_of(where: Where) -> qdrant.Filter:
    """Conditions that must all hold."""
    return qdrant.Filter(must=[_condition(one) for one in where])


def _condition(one: Among | AtMost | Above) -> qdrant.FieldCondition:
    if isinstance(one, Among):
        return qdrant.FieldCondition(one.field, match=_match(one.values))
    if isinstance(one, AtMost):
        return qdrant.FieldCondition(one.field, range=qdrant.RangeFloat(lte=one.value))
    return qdrant.FieldCondition(one.field, range=qdrant.RangeFloat(gt=one.value))


def _match(values: Sequence[str]) -> qdrant.MatchValue | qdrant.MatchAny:
    if len(values) == 1:  # points of several values go through a set, as dear as comparing their vectors
        return qdrant.MatchValue(values[0])
    return qdrant.MatchAny(list(values))
