"""What can go wrong, and the one table from failure to gRPC and HTTP status and back.

RadragError
├── InvalidArgument        a field of the request breaks its limit
├── Unauthenticated        nobody knows who is calling
├── PermissionDenied       the caller may not do this
├── NotFound               there is no such thing, or the caller may not know of it
├── FailedPrecondition     the request is fine but does not fit the state of the service
├── Overloaded             too much at once; try again after a while
├── DeadlineExceeded       the caller's time is up
├── Unavailable            a part is missing; safe to try again
│   ├── ModelUnavailable   a model server does not answer
│   └── IndexUnavailable   the retrieval service does not answer
└── Internal               our fault; the request id is all a caller learns

Messages are written for the caller: they never hold question, answer or document text.
"""

import errno
from typing import ClassVar, TypeVar

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

DOMAIN = "radrag"
NO_WRITES = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
D = TypeVar("D", error_details_pb2.RetryInfo, error_details_pb2.ErrorInfo, error_details_pb2.BadRequest)


class RadragError(Exception):
    """Base of every failure a caller may see."""

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.INTERNAL
    http: ClassVar[int] = 500  # as google.rpc.Code maps them

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.code.name

    def details(self) -> list[any_pb2.Any]:
        """The google.rpc messages that travel with the status."""
        return [_any(error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN))]


class InvalidArgument(RadragError):
    """A field of the request breaks its limit. `field` is its path in the request: `filter.topics[0]`."""

    code, http = grpc.StatusCode.INVALID_ARGUMENT, 400

    def __init__(self, field: str, limit: str) -> None:
        super().__init__(f"{field}: {limit}", "INVALID_ARGUMENT")
        self.field, self.limit = field, limit

    def details(self) -> list[any_pb2.Any]:
        violation = error_details_pb2.BadRequest.FieldViolation(field=self.field, description=self.limit)
        return [_any(error_details_pb2.BadRequest(field_violations=[violation])), *super().details()]


class Unauthenticated(RadragError):
    """Nobody knows who is calling."""

    code, http = grpc.StatusCode.UNAUTHENTICATED, 401


class PermissionDenied(RadragError):
    """The caller may not do this."""

    code, http = grpc.StatusCode.PERMISSION_DENIED, 403


class NotFound(RadragError):
    """There is no such thing, or the caller may not know of it."""

    code, http = grpc.StatusCode.NOT_FOUND, 404


class FailedPrecondition(RadragError):
    """The request does not fit the state of the service, for instance two fingerprints differ."""

    code, http = grpc.StatusCode.FAILED_PRECONDITION, 400


class Overloaded(RadragError):
    """Too much at once. `retry_after` is a hint in seconds."""

    code, http = grpc.StatusCode.RESOURCE_EXHAUSTED, 429

    def __init__(self, message: str, retry_after: float = 1.0, reason: str = "OVERLOADED") -> None:
        super().__init__(message, reason)
        self.retry_after = retry_after

    def details(self) -> list[any_pb2.Any]:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(round(self.retry_after * 1000))
        return [_any(error_details_pb2.RetryInfo(retry_delay=delay)), *super().details()]


class DeadlineExceeded(RadragError):
    """The caller's time is up."""

    code, http = grpc.StatusCode.DEADLINE_EXCEEDED, 504


class Unavailable(RadragError):
    """A part of the service is missing."""

    code, http = grpc.StatusCode.UNAVAILABLE, 503


class ModelUnavailable(Unavailable):
    """A model server does not answer. `role` is embedder, reranker or generator."""

    def __init__(self, role: str) -> None:
        super().__init__(f"the {role} does not answer", f"{role.upper()}_UNAVAILABLE")
        self.role = role


class IndexUnavailable(Unavailable):
    """The retrieval service does not answer."""

    def __init__(self) -> None:
        super().__init__("the retrieval service does not answer", "INDEX_UNAVAILABLE")


class Internal(RadragError):
    """Our fault."""


_BY_CODE: dict[grpc.StatusCode, type[RadragError]] = {
    kind.code: kind
    for kind in (
        Unauthenticated,
        PermissionDenied,
        NotFound,
        FailedPrecondition,
        DeadlineExceeded,
        Unavailable,
    )
}
# By a server: it stops, or has more calls before its door than it can take.
_BY_CODE[grpc.StatusCode.CANCELLED] = Unavailable


def to_status(error: Exception, request_id: str = "") -> status_pb2.Status:
    """The status a caller gets. Anything that is not ours becomes INTERNAL and keeps its text to itself."""
    if not isinstance(error, RadragError):
        error = Internal(f"internal error, request {request_id}", "INTERNAL")
    number: int = error.code.value[0]
    return status_pb2.Status(code=number, message=error.message, details=error.details())


def of_disk(error: OSError) -> Exception:
    """What it means for a caller: a disk that takes no writes now may do so later; all else is our fault."""
    return Unavailable("a disk takes no writes", "DISK_FULL") if error.errno in NO_WRITES else error


def from_rpc(error: grpc.RpcError) -> RadragError:
    """The error behind a failed call, rebuilt from its status and details."""
    code, message = error.code(), error.details() or ""
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return _invalid(error, message)
    info = _detail(error, error_details_pb2.ErrorInfo())
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        retry = _detail(error, error_details_pb2.RetryInfo())
        seconds = retry.retry_delay.ToMilliseconds() / 1000 if retry else 1.0
        return Overloaded(message, seconds, info.reason if info else "OVERLOADED")
    return _BY_CODE.get(code, Internal)(message, info.reason if info else code.name)


def _invalid(error: grpc.RpcError, message: str) -> InvalidArgument:
    bad = _detail(error, error_details_pb2.BadRequest())
    if bad and bad.field_violations:
        return InvalidArgument(bad.field_violations[0].field, bad.field_violations[0].description)
    return InvalidArgument("request", message)


def _detail(error: grpc.RpcError, empty: D) -> D | None:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # an AioRpcError is a call too
    for packed in status.details if status else ():
        if packed.Unpack(empty):
            return empty
    return None


def _any(
    message: error_details_pb2.ErrorInfo | error_details_pb2.RetryInfo | error_details_pb2.BadRequest,
) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
