"""What a vector store is asked, in the terms of a Qdrant server; and how its dense vectors are compressed.

The best by compressed ones are compared again with the full ones, so a score is always the full vectors' own.
"""

from qdrant_client import models

from retrieval.bm25 import SparseVector
from retrieval.edge_terms import EF, OVERSAMPLING
from retrieval.store import INTEGERS, KEYWORDS, Above, Among, AtMost, Point, Where


def compressed(compression: str) -> models.ScalarQuantization | models.BinaryQuantization | None:
    """How vectors are compressed beside the full ones: none, int8 or binary."""
    if compression == "int8":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)
    if compression == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


def params(compression: str) -> models.SearchParams:
    """How graphs and compressed vectors are searched.

    As many candidates as the embedded store keeps at least, in each of a collection's graphs: on a server one
    for every segment.
    """
    # A server pays no heed to the rest where a collection has no compressed vectors.
    rescore = compression != "none"
    again = models.QuantizationSearchParams(
        ignore=not rescore, rescore=rescore, oversampling=OVERSAMPLING[compression]
    )
    return models.SearchParams(hnsw_ef=EF, quantization=again)


def schema() -> list[tuple[str, models.PayloadSchemaType]]:
    """The payload indexes of a collection."""
    keywords = [(field, models.PayloadSchemaType.KEYWORD) for field in KEYWORDS]
    return keywords + [(field, models.PayloadSchemaType.INTEGER) for field in INTEGERS]


def point(one: Point) -> models.PointStruct:
    """A point to be written."""
    vector: dict[str, object] = {}
    if one.dense is not None:
        vector["dense"] = list(one.dense)
    if one.bm25 is not None:
        vector["bm25"] = sparse(one.bm25)
    return models.PointStruct.model_validate(
        {"id": one.point_id, "vector": vector, "payload": dict(one.payload)}
    )


def sparse(vector: SparseVector) -> models.SparseVector:
    """A vector of BM25."""
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def filter_of(where: Where) -> models.Filter:
    """Conditions that must all hold."""
    return models.Filter(must=[_condition(one) for one in where])


def _condition(one: Among | AtMost | Above) -> models.FieldCondition:
    if isinstance(one, Among):
        return models.FieldCondition(key=one.field, match=models.MatchAny(any=list(one.values)))
    if isinstance(one, AtMost):
        return models.FieldCondition(key=one.field, range=models.Range(lte=one.value))
    return models.FieldCondition(key=one.field, range=models.Range(gt=one.value))
