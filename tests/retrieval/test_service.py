"""The service over a real channel: the contract's replies, and for every field its limit by name."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import grpc
import pytest
from grpc import aio

from radrag import call, errors
from radrag.errors import FailedPrecondition, InvalidArgument
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1 import retrieval_pb2_grpc
from tests.retrieval.making import (
    DIMENSION,
    EMBEDDER,
    TOPICS,
    document_message,
    embedder_message,
    header_message,
    made,
    vector,
)
from tests.retrieval.running import publish, service

Stub = retrieval_pb2_grpc.RetrievalServiceStub
KIDNEY = made("kidney", "Renal cysts are common. Contrast shows them.", "Stones are bright on CT.")
STAFF = made("staff", "Renal biopsy on call list.", access_labels=("staff",), topic="templates")


@pytest.fixture
async def stub(tmp_path: Path) -> AsyncIterator[Stub]:
    async with service(tmp_path) as (opened, _):
        yield opened


def asking(text: str = "renal cysts", **fields: object) -> wire.SearchRequest:
    request = {"question": text, "vector": vector(text), "embedder": embedder_message(EMBEDDER), **fields}
    return wire.SearchRequest(**request)  # type: ignore[arg-type]


async def refusal(attempt: Awaitable[object]) -> errors.RadragError:
    with pytest.raises(aio.AioRpcError) as failure:
        await attempt
    return errors.from_rpc(failure.value)


async def test_what_is_published_is_found_described_and_fetched(stub: Stub) -> None:
    reply = await publish(stub, KIDNEY)
    assert (reply.changed, reply.superseded_version) == (True, "")
    found = await stub.Search(asking())
    assert (found.generation, found.revision, list(found.missing_legs)) == ("g1", reply.revision, [])
    best = found.parents[0]
    assert best.parent.text == "Renal cysts are common. Contrast shows them."
    assert best.document == document_message(KIDNEY.header.document)
    assert best.children[0].HasField("dense")
    assert best.children[0].HasField("bm25")
    fetched = await stub.GetParents(wire.GetParentsRequest(parent_ids=[best.parent.parent_id]))
    assert (fetched.parents[0].parent, list(fetched.parents[0].children)) == (best.parent, [])


async def test_describe_counts_what_is_live_by_topic(stub: Stub) -> None:
    empty = await stub.Describe(wire.DescribeRequest(documents=True))
    assert (empty.generation, empty.store, [one.topic for one in empty.topics]) == ("", "edge", list(TOPICS))
    assert not empty.HasField("fingerprint")
    await publish(stub, made("kidney", "Old."))
    await publish(stub, KIDNEY)
    await publish(stub, STAFF)
    full = await stub.Describe(wire.DescribeRequest(documents=True))
    counts = {one.topic: (one.documents, one.parents, one.children) for one in full.topics}
    assert counts == dict.fromkeys(TOPICS, (0, 0, 0)) | {"safety": (1, 2, 3), "templates": (1, 1, 1)}
    assert [one.document_id for one in full.documents] == ["kidney"]  # the other is not ours to see
    assert full.fingerprint.embedder == embedder_message(EMBEDDER)
    assert len(full.bm25_sha256) == 64


async def test_a_caller_sees_what_its_labels_allow_in_every_call(stub: Stub) -> None:
    await publish(stub, STAFF)
    staff = ((call.LABELS, "staff"),)
    ids = wire.GetParentsRequest(parent_ids=[STAFF.parents[0].parent_id])
    everyone: list[int] = []
    allowed: list[int] = []
    for metadata, seen in (((), everyone), (staff, allowed)):
        seen.append(len((await stub.Search(asking("biopsy"), metadata=metadata)).parents))
        seen.append(len((await stub.GetParents(ids, metadata=metadata)).parents))
        described = await stub.Describe(wire.DescribeRequest(documents=True), metadata=metadata)
        seen.append(len(described.documents))
    assert (everyone, allowed) == ([0, 0, 0], [1, 1, 1])


async def test_delete_says_what_it_removed(stub: Stub) -> None:
    await publish(stub, KIDNEY)
    gone = await stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="kidney"))
    assert list(gone.versions) == [KIDNEY.header.document.version]
    assert not (await stub.Search(asking())).parents
    nothing = await stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="kidney"))
    assert (list(nothing.versions), nothing.revision) == ([], gone.revision)


async def test_today_is_the_day_where_none_is_given(stub: Stub) -> None:
    await publish(stub, KIDNEY.said(valid_from=100))
    await publish(stub, made("later", "Renal cysts later.", valid_from=101))
    assert {one.document.document_id for one in (await stub.Search(asking())).parents} == {"kidney"}
    later = await stub.Search(asking(as_of_day=101))
    assert {one.document.document_id for one in later.parents} == {"kidney", "later"}


@pytest.mark.parametrize(
    ("fields", "field", "limit"),
    [
        ({"text": ""}, "question", "must have 1 to 2000 characters"),
        ({"text": "я" * 2001}, "question", "must have 1 to 2000 characters"),
        ({"text": " \t\n "}, "question", "must not be blank"),
        ({"text": "renal\0cysts"}, "question", "must not hold NUL"),
        ({"vector": [1.0, 0.0]}, "vector", f"must have {DIMENSION} numbers"),
        ({"vector": [float("nan")] * DIMENSION}, "vector", "must be finite"),
        ({"embedder": None}, "embedder", "required with a vector"),
        ({"embedder": wire.QueryEmbedder(name="x")}, "embedder.weights_sha256", "must match ^[0-9a-f]{64}$"),
        ({"generation": "../g1"}, "generation", "must match ^[a-z0-9]{1,40}$"),
        ({"topics": ["safety", "cooking"]}, "topics[1]", "must be one of " + ", ".join(TOPICS)),
        ({"languages": ["english"]}, "languages[0]", "must match ^[a-z]{2}$"),
        ({"categories": ["blog"]}, "categories[0]", "must be one of web, methodological"),
        ({"document_ids": [""]}, "document_ids[0]", "must have 1 to 200 characters"),
        ({"document_ids": ["d"] * 1001}, "document_ids", "must have at most 1000 entries"),
        ({"as_of_day": 3_000_000}, "as_of_day", "must be -719162 to 2932896"),
        ({"children_per_topic": 101}, "children_per_topic", "must be 0 to 100"),
        ({"children": 1001}, "children", "must be 0 to 1000"),
        ({"parents": 101}, "parents", "must be 0 to 100"),
    ],
)
async def test_a_search_field_beyond_its_limit_is_named(
    stub: Stub, fields: dict[str, object], field: str, limit: str
) -> None:
    await publish(stub, KIDNEY)
    text = str(fields.pop("text", "renal cysts"))
    error = await refusal(stub.Search(asking(text, **fields)))
    assert isinstance(error, InvalidArgument)
    assert error.field == field
    assert error.limit.startswith(limit)


async def test_a_question_of_2000_characters_is_fine(stub: Stub) -> None:
    await publish(stub, KIDNEY)
    assert (await stub.Search(asking("я" * 2000))).parents


def set_document(field: str, value: object) -> Callable[[wire.IndexDocumentRequest.Header], None]:
    def change(header: wire.IndexDocumentRequest.Header) -> None:
        header.document.ClearField(field)
        header.document.MergeFrom(wire.Document(**{field: value}))  # type: ignore[arg-type]

    return change


def set_fingerprint(field: str, value: object) -> Callable[[wire.IndexDocumentRequest.Header], None]:
    return lambda header: setattr(header.fingerprint, field, value)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (set_document("document_id", ""), "document_id"),
        (set_document("document_id", "d" * 201), "document_id"),
        (set_document("version", "xyz"), "version"),
        (set_document("version", "0" * 16), "version"),
        (set_document("title", "  "), "title"),
        (set_document("title", "t" * 501), "title"),
        (set_document("topic", "cooking"), "topic"),
        (set_document("category", "blog"), "category"),
        (set_document("tier", 5), "tier"),
        (set_document("language", "RU"), "language"),
        (set_document("access_labels", []), "access_labels"),
        (set_document("access_labels", ["a,b"]), "access_labels[0]"),
        (set_document("valid_from", -800_000), "valid_from"),
        (set_document("valid_to", 0), "valid_to"),
        (set_document("text_sha256", "ab"), "text_sha256"),
        (set_document("approved_by", ""), "approved_by"),
    ],
)
async def test_a_document_field_beyond_its_limit_is_named(
    stub: Stub, change: Callable[[wire.IndexDocumentRequest.Header], None], field: str
) -> None:
    error = await refused_header(stub, change)
    assert error.field == f"header.document.{field}"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (set_fingerprint("pooling", ""), "header.fingerprint.pooling"),
        (set_fingerprint("tokenizer_sha256", "x"), "header.fingerprint.tokenizer_sha256"),
        (lambda header: setattr(header, "parents", 0), "header.parents"),
        (lambda header: setattr(header, "children", 100_001), "header.children"),
        (lambda header: setattr(header, "generation", "G 1"), "header.generation"),
    ],
)
async def test_a_header_field_beyond_its_limit_is_named(
    stub: Stub, change: Callable[[wire.IndexDocumentRequest.Header], None], field: str
) -> None:
    assert (await refused_header(stub, change)).field == field


async def refused_header(
    stub: Stub, change: Callable[[wire.IndexDocumentRequest.Header], None]
) -> InvalidArgument:
    header, passages = KIDNEY.messages()
    change(header.header)
    error = await refusal(stub.IndexDocument(iter([header, passages])))
    assert isinstance(error, InvalidArgument)
    return error


async def test_the_header_comes_first_and_once(stub: Stub) -> None:
    header, passages = KIDNEY.messages()
    for messages in ([], [passages], [header, header, passages], [wire.IndexDocumentRequest()]):
        error = await refusal(stub.IndexDocument(iter(messages)))
        assert isinstance(error, InvalidArgument)
        assert error.field == "header"


async def test_a_message_over_three_megabytes_is_refused(stub: Stub) -> None:
    big = made("big", "word " * 700_000)
    error = await refusal(stub.IndexDocument(big.messages()))
    assert isinstance(error, InvalidArgument)
    assert error.field == "passages"


@pytest.mark.parametrize("ids", [[], ["x"], ["00000000-0000-0000-0000-000000000000"] * 101])
async def test_parent_ids_are_1_to_100_uuids(stub: Stub, ids: list[str]) -> None:
    error = await refusal(stub.GetParents(wire.GetParentsRequest(parent_ids=ids)))
    assert isinstance(error, InvalidArgument)
    assert error.field.startswith("parent_ids")


async def test_a_deletion_needs_a_document_and_a_real_version(stub: Stub) -> None:
    for request, field in (
        (wire.DeleteDocumentRequest(), "document_id"),
        (wire.DeleteDocumentRequest(document_id="d", version="v1"), "version"),
    ):
        error = await refusal(stub.DeleteDocument(request))
        assert isinstance(error, InvalidArgument)
        assert error.field == field


async def test_another_fingerprint_or_generation_is_a_failed_precondition_with_its_reason(stub: Stub) -> None:
    await publish(stub, KIDNEY)
    other = embedder_message(EMBEDDER)
    other.name = "frida"
    error = await refusal(stub.Search(asking(embedder=other)))
    assert isinstance(error, FailedPrecondition)
    assert error.reason == "FINGERPRINT_MISMATCH"
    assert "'frida'" in error.message
    assert "'words'" in error.message
    error = await refusal(stub.Search(asking(generation="g7")))
    assert (type(error), error.reason) == (FailedPrecondition, "GENERATION_UNKNOWN")


async def test_a_generation_is_made_filled_switched_to_and_dropped(stub: Stub) -> None:
    await publish(stub, KIDNEY)
    late = header_message(KIDNEY.header).fingerprint
    late.pooling = "late"
    await stub.CreateGeneration(wire.CreateGenerationRequest(generation="g2", fingerprint=late))
    header, passages = KIDNEY.messages()
    header.header.generation = "g2"
    error = await refusal(stub.IndexDocument(iter([header, passages])))
    assert (type(error), error.reason) == (FailedPrecondition, "FINGERPRINT_MISMATCH")
    header.header.fingerprint.CopyFrom(late)
    await stub.IndexDocument(iter([header, passages]))
    held = await stub.ListGenerations(wire.ListGenerationsRequest())
    assert [(one.name, one.current, one.documents, one.versions) for one in held.generations] == [
        ("g1", True, 1, 1),
        ("g2", False, 1, 1),
    ]
    assert held.generations[1].fingerprint == late
    early = wire.SwitchGenerationRequest(generation="g2", if_revision=held.revision - 1)
    assert (await refusal(stub.SwitchGeneration(early))).reason == "REVISION_MOVED"
    request = wire.SwitchGenerationRequest(generation="g2", if_revision=held.revision)
    assert (await stub.SwitchGeneration(request)).previous == "g1"
    assert (await stub.Describe(wire.DescribeRequest())).generation == "g2"
    error = await refusal(stub.DropGeneration(wire.DropGenerationRequest(generation="g2")))
    assert error.reason == "GENERATION_CURRENT"
    await stub.DropGeneration(wire.DropGenerationRequest(generation="g1"))
    held = await stub.ListGenerations(wire.ListGenerationsRequest())
    assert [one.name for one in held.generations] == ["g2"]
    for attempt in (
        stub.SwitchGeneration(wire.SwitchGenerationRequest()),
        stub.DropGeneration(wire.DropGenerationRequest(generation="G 2")),
        stub.CreateGeneration(wire.CreateGenerationRequest(fingerprint=late)),
    ):
        error = await refusal(attempt)
        assert isinstance(error, InvalidArgument)
        assert error.field == "generation"


async def test_a_stream_that_its_caller_drops_leaves_nothing_to_find(stub: Stub) -> None:
    async def dropped() -> AsyncIterator[wire.IndexDocumentRequest]:
        header, passages = KIDNEY.messages()
        yield header
        yield passages
        await asyncio.sleep(60)

    attempt = stub.IndexDocument(dropped())
    await asyncio.sleep(0.3)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert not (await stub.Search(asking())).parents
    assert (await publish(stub, KIDNEY)).changed


async def test_no_error_text_holds_a_question_or_a_passage(stub: Stub) -> None:
    header, passages = KIDNEY.messages()
    passages.passages.children[0].text = "secret words"
    with pytest.raises(aio.AioRpcError) as failure:
        await stub.IndexDocument(iter([header, passages]))
    assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "secret" not in str(failure.value.details())
