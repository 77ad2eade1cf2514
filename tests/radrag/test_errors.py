"""A failure keeps its kind, its field and its hints across a real channel, and nothing else gets out."""

import grpc
import pytest
from grpc import aio

from radrag import errors, serving
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.retrieval.v1 import retrieval_pb2_grpc as wire

SECRET = "patient Ivanov"


class Failing(wire.RetrievalServiceServicer):
    """Raises what it was made with."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:  # noqa: N802
        raise self.error


async def raised(error: Exception) -> grpc.RpcError:
    """What a client sees when a handler raises `error`."""
    server = await serving.start(
        lambda one: wire.add_RetrievalServiceServicer_to_server(Failing(error), one), "127.0.0.1:0"
    )
    try:
        async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            with pytest.raises(grpc.RpcError) as failure:
                await wire.RetrievalServiceStub(channel).Describe(pb.DescribeRequest())
            return failure.value
    finally:
        await server.stop()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidArgument("question", "at most 2,000 characters"), "INVALID_ARGUMENT"),
        (errors.Unauthenticated("no token"), "UNAUTHENTICATED"),
        (errors.PermissionDenied("not yours"), "PERMISSION_DENIED"),
        (errors.NotFound("no such document"), "NOT_FOUND"),
        (errors.FailedPrecondition("fingerprints differ", "FINGERPRINT"), "FAILED_PRECONDITION"),
        (errors.Overloaded("full", 2.5), "RESOURCE_EXHAUSTED"),
        (errors.Overloaded("that was all for today", 2.5, "OVERLOADED_QUOTA"), "RESOURCE_EXHAUSTED"),
        (errors.DeadlineExceeded("too late"), "DEADLINE_EXCEEDED"),
        (errors.ModelUnavailable("generator"), "UNAVAILABLE"),
        (errors.IndexUnavailable(), "UNAVAILABLE"),
    ],
)
async def test_a_failure_keeps_its_kind_message_and_reason(error: errors.RadragError, code: str) -> None:
    seen = await raised(error)
    rebuilt = errors.from_rpc(seen)
    assert seen.code().name == code
    assert (rebuilt.message, rebuilt.reason, rebuilt.code) == (error.message, error.reason, error.code)


async def test_an_invalid_field_is_named_with_its_limit() -> None:
    rebuilt = errors.from_rpc(await raised(errors.InvalidArgument("filter.topics[0]", "must be known")))
    assert isinstance(rebuilt, errors.InvalidArgument)
    assert (rebuilt.field, rebuilt.limit) == ("filter.topics[0]", "must be known")


async def test_overload_says_when_to_try_again() -> None:
    rebuilt = errors.from_rpc(await raised(errors.Overloaded("full", 2.5)))
    assert isinstance(rebuilt, errors.Overloaded)
    assert rebuilt.retry_after == 2.5


async def test_an_unknown_failure_keeps_its_text_to_itself() -> None:
    seen = await raised(ValueError(SECRET))
    assert seen.code().name == "INTERNAL"
    assert SECRET not in str(seen.details()) + str(seen.trailing_metadata())
    assert "request " in str(seen.details())


async def test_an_unknown_failure_is_logged_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    await raised(ValueError(SECRET))
    assert "call failed" in caplog.text
    assert SECRET not in caplog.text


async def test_a_dead_server_is_unavailable() -> None:
    async with aio.insecure_channel("127.0.0.1:9") as channel:
        with pytest.raises(grpc.RpcError) as failure:
            await wire.RetrievalServiceStub(channel).Describe(pb.DescribeRequest())
    assert isinstance(errors.from_rpc(failure.value), errors.Unavailable)


@pytest.mark.parametrize("name", ["Unauthenticated", "NotFound", "FailedPrecondition", "DeadlineExceeded"])
def test_a_reason_that_is_not_given_is_the_codes_name(name: str) -> None:
    kind = getattr(errors, name)
    assert kind("text").reason == kind.code.name
