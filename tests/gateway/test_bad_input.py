"""Every fault of a request names its field and its limit, over the real protocol."""

from collections.abc import Callable

import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode, aio
from grpc_status import rpc_status

from radrag.assistant.v1 import assistant_pb2 as wire
from tests.gateway.channel import QUESTION, asking

FILTER, LIMITS = wire.Filter, wire.Limits
RATINGS = wire.SubmitFeedbackRequest.Ratings

BAD = {
    "2,001 characters": (wire.GenerateRequest(question="д" * 2001), "question", "2,000"),
    "empty": (wire.GenerateRequest(), "question", "1 to"),
    "only spaces": (wire.GenerateRequest(question=" \n\u00a0\u2003"), "question", "white space"),
    "only invisible": (wire.GenerateRequest(question="\u200b\u200b"), "question", "1 to"),
    "NUL": (wire.GenerateRequest(question="dose\0limit"), "question", "control"),
    "escape": (wire.GenerateRequest(question="dose\x1b[31m"), "question", "control"),
    "bidi override": (wire.GenerateRequest(question="dose \u202elimit"), "question", "control"),
    "megabytes": (wire.GenerateRequest(question="д" * 2_000_000), "question", "2,000"),
    "unknown topic": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(topics=["safety", "cooking"])),
        "filter.topics[1]", "safety, physics",
    ),
    "too many topics": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(topics=["safety"] * 33)),
        "filter.topics", "at most 32",
    ),
    "language": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(languages=["English"])),
        "filter.languages[0]", "ISO 639-1",
    ),
    "category": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(categories=["blog"])),
        "filter.categories[0]", "regulatory",
    ),
    "document id": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(document_ids=["x" * 201])),
        "filter.document_ids[0]", "200",
    ),
    "NUL in a document id": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(document_ids=["x", "a\0b"])),
        "filter.document_ids[1]", "control",
    ),
    "document ids": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(document_ids=["x"] * 101)),
        "filter.document_ids", "100",
    ),
    "as of": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(as_of="2026-02-30")),
        "filter.as_of", "YYYY-MM-DD",
    ),
    "as of without dashes": (
        wire.GenerateRequest(question=QUESTION, filter=FILTER(as_of="20260201")),
        "filter.as_of", "YYYY-MM-DD",
    ),
    "no sources": (
        wire.GenerateRequest(question=QUESTION, limits=LIMITS(sources=0)), "limits.sources", "1 to 5",
    ),
    "too many candidates": (
        wire.GenerateRequest(question=QUESTION, limits=LIMITS(candidates=14)), "limits.candidates", "1 to 13",
    ),
    "too many tokens": (
        wire.GenerateRequest(question=QUESTION, limits=LIMITS(max_tokens=513)),
        "limits.max_tokens", "1 to 512",
    ),
    "children": (
        wire.GenerateRequest(question=QUESTION, limits=LIMITS(children_per_topic=16)),
        "limits.children_per_topic", "1 to 15",
    ),
}  # fmt: skip


def violation(failure: aio.AioRpcError) -> error_details_pb2.BadRequest.FieldViolation:
    bad = error_details_pb2.BadRequest()
    assert rpc_status.from_call(failure).details[0].Unpack(bad)  # type: ignore[arg-type]
    (only,) = bad.field_violations
    return only


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_request_names_its_field_and_limit(case: str) -> None:
    request, field, limit = BAD[case]
    async with asking() as stub:
        with pytest.raises(aio.AioRpcError) as failure:
            await stub.Generate(request)
    assert failure.value.code() is StatusCode.INVALID_ARGUMENT
    assert violation(failure.value).field == field
    assert limit in violation(failure.value).description


@pytest.mark.parametrize(
    "call",
    [
        lambda stub: stub.Search(wire.SearchRequest(question=" ")),
        lambda stub: stub.Prompt(wire.PromptRequest(question=" ")),
        lambda stub: stub.GenerateStream(wire.GenerateStreamRequest(question=" ")).read(),
    ],
)
async def test_every_method_checks_the_question(call: Callable[..., object]) -> None:
    async with asking() as stub:
        with pytest.raises(aio.AioRpcError) as failure:
            await call(stub)  # type: ignore[misc]
    assert violation(failure.value).field == "question"


@pytest.mark.parametrize(
    "question",
    ["д" * 2000, "  " + "д" * 2000 + "\n", "и\u0306" * 2000, "What is the dose limit?\nFor workers.", "2?"],
)
async def test_limits_are_met_after_composing_and_stripping(question: str) -> None:
    async with asking() as stub:
        await stub.Search(wire.SearchRequest(question=question))


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (wire.SubmitFeedbackRequest(ratings=RATINGS(safety=1)), "request_id"),
        (wire.SubmitFeedbackRequest(request_id="r"), "ratings"),
        (wire.SubmitFeedbackRequest(request_id="r", ratings=RATINGS(accuracy=6)), "ratings.accuracy"),
        (
            wire.SubmitFeedbackRequest(request_id="r", ratings=RATINGS(safety=1), source_usefulness=[1, 9]),
            "source_usefulness[1]",
        ),
        (
            wire.SubmitFeedbackRequest(request_id="r", ratings=RATINGS(safety=1), comment="x" * 4001),
            "comment",
        ),
    ],
)
async def test_bad_feedback_names_its_field(request_: wire.SubmitFeedbackRequest, field: str) -> None:
    async with asking() as stub:
        with pytest.raises(aio.AioRpcError) as failure:
            await stub.SubmitFeedback(request_)
    assert violation(failure.value).field == field
