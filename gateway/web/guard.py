"""What every reply carries and no request may do: strict headers, and no requests sent by other sites."""

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.web import problems

# The console needs its own files and this server, nothing else from anywhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Stands before the application.

    `hosts` are the only names it answers to, all where none are given: a service that knows no callers must
    not be reached through a name that somebody else points at this machine.
    """

    def __init__(self, inner: ASGIApp, hosts: frozenset[str] = frozenset()) -> None:
        self._inner, self._hosts = inner, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._inner(scope, receive, send)
        dressed = _dressed(send, scope["path"])
        if fault := self._fault(Headers(scope=scope)):
            refusal = JSONResponse(problems.plain(403, fault), 403, media_type=problems.MEDIA_TYPE)
            return await refusal(scope, receive, dressed)
        return await self._inner(scope, receive, dressed)

    def _fault(self, headers: Headers) -> str:
        name = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        if self._hosts and name.strip("[]") not in self._hosts:
            return "this service answers on this machine only"
        if headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"} and not _navigating(headers):
            return "requests of other sites are refused"
        return ""


def _navigating(headers: Headers) -> bool:
    """A person who follows a link to the console; such a request can do nothing."""
    return headers.get("sec-fetch-mode") == "navigate"


def _dressed(send: Send, path: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers["Cache-Control"] = "no-store" if path.startswith("/v1/") else "no-cache"
        await send(message)

    return sending


def loopback_names(names: Sequence[str]) -> frozenset[str]:
    """The names under which this machine reaches itself, and those given."""
    return frozenset({"localhost", "127.0.0.1", "::1", *names})
