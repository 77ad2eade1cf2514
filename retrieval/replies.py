"""Values of the core as replies of the contract."""

from collections.abc import Iterable, Iterator, Sequence

from radrag.retrieval.v1 import retrieval_pb2 as wire
from retrieval.document import Document, Parent
from retrieval.fingerprint import Fingerprint
from retrieval.question import Found, FoundChild, FoundParent
from retrieval.snapshot import Counts, Generation, Snapshot, View

VERSIONS_AT_ONCE = 500


def found(answer: Found) -> wire.SearchResponse:
    """The reply to a search."""
    return wire.SearchResponse(
        parents=map(found_parent, answer.parents),
        missing_legs=answer.missing_legs,
        generation=answer.generation,
        revision=answer.revision,
    )


def found_parent(one: FoundParent) -> wire.FoundParent:
    """A parent with its document and matched children."""
    return wire.FoundParent(
        parent=_parent(one.parent), document=document(one.document), children=map(_child, one.children)
    )


def document(one: Document) -> wire.Document:
    """A document version."""
    return wire.Document(
        document_id=one.document_id,
        version=one.version,
        title=one.title,
        source_uri=one.source_uri,
        topic=one.topic,
        category=one.category,
        tier=one.tier,
        language=one.language,
        access_labels=one.access_labels,
        valid_from=one.valid_from,
        valid_to=one.valid_to,
        text_sha256=one.text_sha256,
        approved_by=one.approved_by,
    )


def versions(view: View) -> Iterator[wire.ListVersionsResponse]:
    """All versions of a view, by document id, some at a time."""
    held = list(view.generation.versions.values()) if view.generation else []
    held.sort(key=lambda one: (one.document.document_id, one.revision))
    for at in range(0, len(held), VERSIONS_AT_ONCE):
        some = held[at : at + VERSIONS_AT_ONCE]
        yield wire.ListVersionsResponse(
            versions=[wire.IndexedVersion(document=document(one.document), live=one.live) for one in some]
        )


def description(
    view: View, topics: Sequence[str], documents: Iterable[Document], bm25_sha256: str, store: str
) -> wire.DescribeResponse:
    """What the index holds: `topics` in this order, those without documents too."""
    reply = wire.DescribeResponse(
        revision=view.revision, bm25_sha256=bm25_sha256, documents=map(document, documents), store=store
    )
    counts = view.generation.counts() if view.generation else {}
    for topic in topics:
        reply.topics.append(_count(topic, counts.get(topic, Counts(0, 0, 0))))
    if view.generation is not None:
        reply.generation, reply.bm25_sha256 = view.generation.name, view.generation.bm25_sha256
        reply.fingerprint.CopyFrom(_fingerprint(view.generation.fingerprint))
    return reply


def generations(snapshot: Snapshot, current: str) -> wire.ListGenerationsResponse:
    """All generations, by name."""
    held = [snapshot.generations[name] for name in sorted(snapshot.generations)]
    listed = [_generation(one, one.name == current) for one in held]
    return wire.ListGenerationsResponse(generations=listed, revision=snapshot.revision)


def _generation(one: Generation, current: bool) -> wire.ListGenerationsResponse.Generation:
    live = one.live()
    return wire.ListGenerationsResponse.Generation(
        name=one.name,
        current=current,
        fingerprint=_fingerprint(one.fingerprint),
        documents=len(live),
        versions=len(one.versions),
        children=sum(version.children for version in live),
    )


def _count(topic: str, counts: Counts) -> wire.DescribeResponse.TopicCount:
    return wire.DescribeResponse.TopicCount(
        topic=topic, documents=counts.documents, parents=counts.parents, children=counts.children
    )


def _fingerprint(one: Fingerprint) -> wire.Fingerprint:
    return wire.Fingerprint(
        embedder=wire.QueryEmbedder(
            name=one.embedder.name,
            weights_sha256=one.embedder.weights_sha256,
            dimension=one.embedder.dimension,
        ),
        normalized=one.normalized,
        pooling=one.pooling,
        query_prefix=one.query_prefix,
        document_prefix=one.document_prefix,
        tokenizer_sha256=one.tokenizer_sha256,
        chunking=one.chunking,
        max_parent_tokens=one.max_parent_tokens,
        max_child_tokens=one.max_child_tokens,
        min_child_characters=one.min_child_characters,
    )


def _parent(one: Parent) -> wire.Parent:
    return wire.Parent(
        parent_id=one.parent_id,
        start=one.start,
        end=one.end,
        text=one.text,
        heading_path=one.heading_path,
        context=one.context,
        pages=one.pages,
    )


def _child(one: FoundChild) -> wire.FoundChild:
    return wire.FoundChild(
        child_id=one.hit.passage_id,
        start=one.hit.start,
        end=one.hit.end,
        dense=one.dense,
        bm25=one.bm25,
        fused=one.fused,
    )
