"""The HTTP application: a handler reads JSON, calls the RPC and answers. What it answers is the service's."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount
from starlette.routing import Route as Path_
from starlette.staticfiles import StaticFiles

from gateway.web import calls, problems, routes, translate
from gateway.web.calls import Services
from gateway.web.events import Events
from gateway.web.guard import Guard
from gateway.web.leaving import while_there
from gateway.web.routes import Route
from radrag.errors import RadragError, Unavailable

CONSOLE = Path(__file__).parent.parent / "console"
OPENAPI = Path(__file__).parent / "openapi.json"
EVENTS = "text/event-stream"
BODY_SECONDS = 20.0  # a body that trickles in must not hold a connection for ever
Handler = Callable[[Request], Awaitable[Response]]


def app(services: Services, hosts: frozenset[str] = frozenset()) -> Guard:
    """The application. `hosts`, when given, are the only names it answers to."""
    paths = [Path_(route.path, _handler(route, services), methods=[route.verb]) for route in routes.ROUTES]
    return Guard(
        Starlette(
            routes=[
                *paths,
                Path_("/openapi.json", _openapi),
                Path_("/", _to_console),
                Mount("/console", StaticFiles(directory=CONSOLE, html=True)),
            ],
            exception_handlers={HTTPException: _http_fault},
        ),
        hosts,
    )


def _handler(route: Route, services: Services) -> Handler:
    async def handle(request: Request) -> Response:
        request_id = calls.request_id(request.headers)
        try:
            reply = await _answer(route, services, request, request_id)
        except RadragError as error:
            reply = problems.problem(error, request_id)
        reply.headers["X-Request-Id"] = request_id
        return reply

    return handle


async def _answer(route: Route, services: Services, request: Request, request_id: str) -> Response:
    terms = calls.terms(request.headers, request_id)
    services.known(route.rpc, terms)
    body = await _body(request, terms.seconds) if route.verb == "POST" else b""
    if route.streamed and (route.unary is None or _wants_events(request)):
        sent = translate.message(route.streamed.request, body)
        frames = services.stream(route.streamed, sent, terms)
        first = await while_there(request, anext(frames, None))
        if first is None:
            raise Unavailable("the stream ended before its first frame")
        return Events(first, frames, request_id)
    assert route.unary is not None
    sent = translate.message(route.unary.request, body)
    reply = await while_there(request, services.unary(route.unary, sent, terms))
    return Response(translate.json(reply), media_type="application/json")


def _wants_events(request: Request) -> bool:
    return EVENTS in request.headers.get("accept", "")


async def _body(request: Request, seconds: float) -> bytes:
    """The body, of a kind that no other site's form can send unasked."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be application/json")
    body = bytearray()
    try:
        async with asyncio.timeout(min(seconds, BODY_SECONDS)):
            async for piece in request.stream():
                body += piece
                if len(body) > translate.MOST_BYTES:
                    raise HTTPException(413, f"the body has more than {translate.MOST_BYTES:,} bytes")
    except TimeoutError:
        raise HTTPException(408, "the body did not come in time") from None
    except ClientDisconnect:
        raise HTTPException(400, "the body broke off") from None
    return bytes(body)


async def _to_console(request: Request) -> Response:
    return RedirectResponse("/console/")


async def _openapi(request: Request) -> Response:
    return FileResponse(OPENAPI, media_type="application/json")


async def _http_fault(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = problems.plain(error.status_code, error.detail)
    return JSONResponse(body, error.status_code, error.headers, problems.MEDIA_TYPE)
