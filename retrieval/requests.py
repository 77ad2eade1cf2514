"""Requests of the contract as values of the core, every field checked on the way."""

from collections.abc import Collection, Sequence
from math import isfinite

from radrag.errors import InvalidArgument
from radrag.retrieval.v1 import retrieval_pb2 as wire
from retrieval import limits
from retrieval.document import Child, Document, Parent
from retrieval.fingerprint import Fingerprint, QueryEmbedder
from retrieval.publication import Batch, Header
from retrieval.question import Question

MOST_BYTES = 3 * 1024 * 1024


def question(
    request: wire.SearchRequest, labels: frozenset[str], topics: Collection[str], today: int
) -> Question:
    """The question of a search; `today` counts from 1970-01-01."""
    if not all(map(isfinite, request.vector)):
        raise InvalidArgument("vector", "must be finite")
    day = request.as_of_day if request.HasField("as_of_day") else today
    return Question(
        text=limits.text("question", request.question, 2000),
        vector=tuple(request.vector),
        embedder=_embedder("embedder", request.embedder) if request.HasField("embedder") else None,
        day=limits.number("as_of_day", day, limits.FIRST_DAY, limits.LAST_DAY),
        labels=labels,
        generation=_generation("generation", request.generation),
        topics=limits.each_one_of("topics", request.topics, topics),
        languages=limits.each_matching("languages", request.languages, limits.LANGUAGE, 100),
        categories=limits.each_one_of("categories", request.categories, limits.CATEGORIES),
        document_ids=_document_ids(request.document_ids),
        children_per_topic=limits.number_or("children_per_topic", request.children_per_topic, 100, 15),
        children=limits.number_or("children", request.children, 1000, 90),
        parents=limits.number_or("parents", request.parents, 100, 13),
    )


def _document_ids(values: Sequence[str]) -> tuple[str, ...]:
    listed = limits.at_most("document_ids", values, 1000)
    return tuple(limits.text(f"document_ids[{at}]", value, 200) for at, value in enumerate(listed))


def parent_ids(request: wire.GetParentsRequest) -> tuple[str, ...]:
    """The ids of a GetParents call."""
    limits.number("parent_ids", len(request.parent_ids), 1, 100)
    return limits.each_matching("parent_ids", request.parent_ids, limits.UUID, 100)


def deletion(request: wire.DeleteDocumentRequest) -> tuple[str, str, str]:
    """Document id, version and generation of a deletion; the latter two empty for all."""
    version = request.version and limits.matching("version", request.version, limits.HEX16)
    generation = _generation("generation", request.generation)
    return limits.text("document_id", request.document_id, 200), version, generation


def ending(request: wire.RetireDocumentRequest) -> tuple[str, str, int]:
    """Document id, version and first day out of force."""
    if not request.HasField("valid_to"):
        raise InvalidArgument("valid_to", "is required")
    return (
        limits.text("document_id", request.document_id, 200),
        limits.matching("version", request.version, limits.HEX16),
        limits.number("valid_to", request.valid_to, limits.FIRST_DAY, limits.LAST_DAY),
    )


def generation(request: wire.ListVersionsRequest) -> str:
    """The generation to list; empty for the current one."""
    return _generation("generation", request.generation)


def creation(request: wire.CreateGenerationRequest) -> tuple[str, Fingerprint]:
    """Name and fingerprint of a generation to make."""
    return named(request.generation), _fingerprint("fingerprint.", request.fingerprint)


def switch(request: wire.SwitchGenerationRequest) -> tuple[str, int | None]:
    """The generation to switch to, and the revision at which alone."""
    return named(request.generation), request.if_revision if request.HasField("if_revision") else None


def named(generation: str) -> str:
    """The name of a generation, which is required."""
    return limits.matching("generation", generation, limits.GENERATION)


def header(message: wire.IndexDocumentRequest.Header, topics: Collection[str]) -> Header:
    """The header of a publication."""
    return Header(
        document=_document(message.document, topics),
        fingerprint=_fingerprint("header.fingerprint.", message.fingerprint),
        parents=limits.number("header.parents", message.parents, 1, 100_000),
        children=limits.number("header.children", message.children, 1, 100_000),
        generation=_generation("header.generation", message.generation),
    )


def _generation(field: str, name: str) -> str:
    return name and limits.matching(field, name, limits.GENERATION)


def _document(message: wire.Document, topics: Collection[str]) -> Document:
    at = "header.document."
    first = limits.number(at + "valid_from", message.valid_from, limits.FIRST_DAY, limits.LAST_DAY)
    last = message.valid_to if message.HasField("valid_to") else None
    if last is not None:
        limits.number(at + "valid_to", last, first + 1, limits.LAST_DAY)
    labels = limits.each_matching(at + "access_labels", message.access_labels, limits.LABEL, 100)
    limits.number(at + "access_labels", len(labels), 1, 100)
    return Document(
        document_id=limits.text(at + "document_id", message.document_id, 200),
        version=_version(at + "version", message),
        title=limits.text(at + "title", message.title, 500),
        source_uri=limits.text(at + "source_uri", message.source_uri, 2000, least=0),
        topic=limits.one_of(at + "topic", message.topic, topics),
        category=limits.one_of(at + "category", message.category, limits.CATEGORIES),
        tier=limits.number(at + "tier", message.tier, 1, 4),
        language=limits.matching(at + "language", message.language, limits.LANGUAGE),
        access_labels=tuple(sorted(set(labels))),
        valid_from=first,
        valid_to=last,
        text_sha256=message.text_sha256,
        approved_by=limits.text(at + "approved_by", message.approved_by, 200),
    )


def _version(field: str, message: wire.Document) -> str:
    limits.matching("header.document.text_sha256", message.text_sha256, limits.HEX64)
    limits.matching(field, message.version, limits.HEX16)
    if not message.text_sha256.startswith(message.version):
        raise InvalidArgument(field, "must be the first 16 digits of text_sha256")
    return message.version


def _fingerprint(at: str, message: wire.Fingerprint) -> Fingerprint:
    return Fingerprint(
        embedder=_embedder(at + "embedder", message.embedder),
        normalized=message.normalized,
        pooling=limits.text(at + "pooling", message.pooling, 40),
        query_prefix=limits.text(at + "query_prefix", message.query_prefix, 200, least=0),
        document_prefix=limits.text(at + "document_prefix", message.document_prefix, 200, least=0),
        tokenizer_sha256=limits.matching(at + "tokenizer_sha256", message.tokenizer_sha256, limits.HEX64),
        chunking=limits.text(at + "chunking", message.chunking, 40),
        max_parent_tokens=message.max_parent_tokens,
        max_child_tokens=message.max_child_tokens,
        min_child_characters=message.min_child_characters,
    )


def _embedder(field: str, message: wire.QueryEmbedder) -> QueryEmbedder:
    return QueryEmbedder(
        name=limits.text(f"{field}.name", message.name, 200),
        weights_sha256=limits.matching(f"{field}.weights_sha256", message.weights_sha256, limits.HEX64),
        dimension=limits.number(f"{field}.dimension", message.dimension, 1, 65_536),
    )


def batch(message: wire.IndexDocumentRequest.Passages) -> Batch:
    """Some passages of a publication; what they say of each other is checked where they are collected."""
    if message.ByteSize() > MOST_BYTES:
        raise InvalidArgument("passages", "must be at most 3 MB a message")
    return Batch(
        [_parent(f"passages.parents[{at}].", one) for at, one in enumerate(message.parents)],
        [_child(f"passages.children[{at}].", one) for at, one in enumerate(message.children)],
    )


def _parent(at: str, message: wire.Parent) -> Parent:
    return Parent(
        parent_id=limits.matching(at + "parent_id", message.parent_id, limits.UUID),
        start=message.start,
        end=message.end,
        text=message.text,
        heading_path=tuple(message.heading_path),
        context=message.context,
        pages=tuple(message.pages),
    )


def _child(at: str, message: wire.Child) -> Child:
    return Child(
        child_id=limits.matching(at + "child_id", message.child_id, limits.UUID),
        parent_id=limits.matching(at + "parent_id", message.parent_id, limits.UUID),
        start=message.start,
        end=message.end,
        text=message.text,
        context=message.context,
        vector=tuple(message.vector),
    )
