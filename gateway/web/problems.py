"""Failures as problem+json (RFC 9457): status, code, reason and fields come from the one table of errors."""

from http import HTTPStatus

from starlette.responses import JSONResponse

from radrag.errors import InvalidArgument, Overloaded, RadragError, Unauthenticated

MEDIA_TYPE = "application/problem+json"


def problem(error: RadragError, request_id: str) -> JSONResponse:
    """The reply of a failed call."""
    body = described(error, request_id)
    return JSONResponse(body, error.http, _headers(error), MEDIA_TYPE)


def described(error: RadragError, request_id: str) -> dict[str, object]:
    """The problem as an object. `code` is gRPC's, `reason` the stable word to branch on."""
    body: dict[str, object] = {
        **plain(error.http, error.message),
        "code": error.code.name,
        "reason": error.reason,
        "request_id": request_id,
    }
    if isinstance(error, InvalidArgument):
        body["errors"] = [{"field": error.field, "detail": error.limit}]
    if isinstance(error, Overloaded):
        body["retry_after"] = error.retry_after
    return body


def plain(status: int, detail: str) -> dict[str, object]:
    """What every problem has; for faults of HTTP itself it is all."""
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}


def _headers(error: RadragError) -> dict[str, str]:
    if isinstance(error, Overloaded):
        return {"Retry-After": str(max(1, round(error.retry_after)))}
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    return {}
