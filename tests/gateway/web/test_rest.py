"""HTTP is the same service: equal replies and frames, the same failures, callers, deadlines and limits."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message
from grpc import aio
from prometheus_client import REGISTRY
from starlette.requests import Request

from gateway import http
from gateway.web import app, calls, openapi
from gateway.web.routes import ROUTES
from ingest.service import KnowledgeService
from ingest.service_uploads import Uploads
from radrag import serving
from radrag.access.callers import Callers
from radrag.access.identity import Known
from radrag.access.opening import Access
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.errors import InvalidArgument
from radrag.knowledge.v1.knowledge_pb2_grpc import add_KnowledgeServiceServicer_to_server
from radrag.triton import Piece
from tests.gateway.channel import QUESTION, without
from tests.gateway.fakes import ANSWER, down, no_generator, saying
from tests.gateway.web.asking import asking, keys, served
from tests.gateway.web.steady import frames, steady
from tests.ingest.knowledge import Knowledge, knowledge

EVENTS = {"Accept": "text/event-stream"}
GUIDE = "# Rooms\n\nThe quiet room is room 12, behind the second door on the left.\n"


@pytest.mark.parametrize(
    ("path", "method", "request_", "reply"),
    [
        ("/v1/search", "Search", wire.SearchRequest, wire.SearchResponse),
        ("/v1/prompt", "Prompt", wire.PromptRequest, wire.PromptResponse),
        ("/v1/generate", "Generate", wire.GenerateRequest, wire.GenerateResponse),
    ],
)
async def test_a_reply_is_the_message_that_grpc_gives(
    path: str, method: str, request_: type[Message], reply: type[Message]
) -> None:
    async with asking() as both:
        got = await both.http.post(path, json={"question": QUESTION, "limits": {"sources": 1}})
        sent = request_(question=QUESTION, limits=wire.Limits(sources=1))
        expected = await getattr(both.grpc, method)(sent, timeout=10)
    assert got.status_code == 200
    assert steady(json_format.Parse(got.text, reply())) == steady(expected)
    assert got.headers["x-request-id"] == got.json()["request_id"]


async def test_a_stream_of_events_has_the_frames_of_the_grpc_stream() -> None:
    pipeline = without(generate=saying(*re.findall(r"\S+\s*", ANSWER)))
    async with asking(pipeline) as both:
        got = await both.http.post("/v1/generate", json={"question": QUESTION}, headers=EVENTS)
        stream = both.grpc.GenerateStream(wire.GenerateStreamRequest(question=QUESTION), timeout=10)
        expected = [frame async for frame in stream]
    assert got.headers["content-type"].startswith("text/event-stream")
    assert [steady(frame) for frame in frames(got.text)] == [steady(frame) for frame in expected]
    assert frames(got.text)[-1].finish.outcome == wire.OUTCOME_ANSWERED


async def test_a_published_field_name_and_its_camel_case_are_both_read() -> None:
    async with asking() as both:
        body = {"question": QUESTION, "filter": {"asOf": "2026-01-01"}}
        reply = (await both.http.post("/v1/prompt", json=body)).json()
    assert {"query", "prompt", "ranked_parents"} <= reply.keys()
    assert reply["manifest"]["as_of"] == "2026-01-01"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"question": ""}, "question"),
        ({"question": "x" * 2001}, "question"),
        ({"question": QUESTION, "filter": {"topics": ["nowhere"]}}, "filter.topics[0]"),
        ({"question": QUESTION, "sources": 3}, "sources"),
        ({"question": 7}, "question"),
        ({"question": QUESTION, "limits": {"sources": -1}}, "sources"),
        ([QUESTION], "body"),
    ],
)
async def test_a_bad_body_is_a_problem_that_names_the_field(body: object, field: str) -> None:
    async with asking() as both:
        reply = await both.http.post("/v1/generate", json=body)
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == "INVALID_ARGUMENT"
    assert field in reply.json()["errors"][0]["field"]


async def test_a_problem_never_quotes_the_body() -> None:
    async with asking() as both:
        for body in (
            '{"question": "secret',
            '{"question": {"secret": 1}}',
            '{"limits": {"sources": "secret"}}',
        ):
            reply = await both.http.post(
                "/v1/search", content=body, headers={"content-type": "application/json"}
            )
            assert reply.status_code == 400
            assert "secret" not in reply.text


async def test_a_missing_generator_is_503_before_the_first_event() -> None:
    async with asking(without(generate=no_generator)) as both:
        for headers in ({}, EVENTS):
            reply = await both.http.post("/v1/generate", json={"question": QUESTION}, headers=headers)
            assert (reply.status_code, reply.json()["reason"]) == (503, "GENERATOR_UNAVAILABLE")


async def test_a_missing_index_is_503_and_a_degraded_reply_is_200_with_a_warning() -> None:
    async with asking(without(search=down("index"))) as both:
        assert (await both.http.post("/v1/search", json={"question": QUESTION})).status_code == 503
    async with asking(without(rerank=down("reranker"))) as both:
        reply = await both.http.post("/v1/search", json={"question": QUESTION})
    assert reply.json()["warnings"][0]["kind"] == "KIND_DEGRADED"


async def slow(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
    await asyncio.sleep(30)
    yield Piece("late", "stop", 1, 1)


async def test_the_deadline_of_the_header_holds() -> None:
    async with asking(without(generate=slow)) as both:
        reply = await both.http.post(
            "/v1/generate", json={"question": QUESTION}, headers={"Grpc-Timeout": "300m"}
        )
    assert (reply.status_code, reply.json()["code"]) == (504, "DEADLINE_EXCEEDED")


@pytest.mark.parametrize(("timeout", "seconds"), [("", 60.0), ("500m", 0.5), ("10S", 10.0), ("2M", 120.0)])
def test_a_timeout_is_read_as_grpc_writes_it(timeout: str, seconds: float) -> None:
    assert calls.seconds(timeout) == seconds


@pytest.mark.parametrize("timeout", ["5", "S", "-1S", "0S", "11M", "1.5S", "123456789n"])
def test_another_timeout_is_refused(timeout: str) -> None:
    with pytest.raises(InvalidArgument, match="grpc-timeout"):
        calls.seconds(timeout)


async def test_too_many_calls_are_429_with_a_time_to_wait() -> None:
    async with asking(without(generate=slow), max_in_flight=1) as both:
        running = asyncio.create_task(
            both.http.post("/v1/generate", json={"question": QUESTION}, headers={"Grpc-Timeout": "2S"})
        )
        await asyncio.sleep(0.3)
        reply = await both.http.post("/v1/generate", json={"question": QUESTION})
        await running
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")


async def test_callers_are_known_as_they_are_over_grpc(tmp_path: Path) -> None:
    path, made = keys(tmp_path, reader={"roles": ["reader"]}, nobody={"roles": []})
    async with asking(identity=Known(callers=Callers(path))) as both:

        async def status(headers: dict[str, str]) -> tuple[int, str]:
            reply = await both.http.post("/v1/search", json={"question": QUESTION}, headers=headers)
            return reply.status_code, reply.json().get("reason", "")

        assert await status({}) == (401, "NO_CREDENTIAL")
        assert await status({"Authorization": "Bearer radrag_x_" + "a" * 43}) == (401, "KEY_UNKNOWN")
        assert await status({"Authorization": f"Bearer {made['nobody']}"}) == (403, "ROLE_MISSING")
        assert await status({"Authorization": f"Bearer {made['reader']}"}) == (200, "")
        assert await status({"Authorization": "Bearer " + "a" * 9000}) == (400, "INVALID_ARGUMENT")


async def test_documents_are_for_curators_over_http_too(tmp_path: Path) -> None:
    """Nobody is 401 and a reader 403 at every path of theirs; a curator takes a document all the way."""
    path, made = keys(
        tmp_path, reader={"roles": ["reader"]}, curator={"roles": ["curator"]}, admin={"roles": ["admin"]}
    )
    async with (
        knowledge(tmp_path) as base,
        curated(base, tmp_path, path) as address,
        served(without(), path, ingest=address) as url,
        httpx.AsyncClient(base_url=f"{url}/v1/") as client,
    ):

        async def told(path: str, who: str, **body: str) -> httpx.Response:
            shown = {"Authorization": f"Bearer {made[who]}"} if who else {}
            return await client.post(path, json=body, headers=shown)

        theirs = [one.path.removeprefix("/v1/") for one in ROUTES if one.rpc.service == http.KNOWLEDGE]
        assert len(theirs) == 8
        for one in theirs:
            nobody, reader = await told(one, ""), await told(one, "reader")
            assert (nobody.status_code, nobody.json()["reason"]) == (401, "NO_CREDENTIAL"), one
            assert (reader.status_code, reader.json()["reason"]) == (403, "ROLE_MISSING"), one
        named = {"document_id": "guide", "version": await base.submit("guide", GUIDE)}
        assert "guide" in (await told("documents/list", "curator")).text
        assert GUIDE.splitlines()[0] in (await told("documents/get", "curator", **named)).json()["markdown"]
        approved = await told("documents/review", "curator", **named, decision="DECISION_APPROVE")
        assert approved.json()["state"] == "STATE_APPROVED"
        job = (await told("documents/publish", "curator", **named)).json()["job_id"]
        assert '"done": true' in (await told("jobs/watch", "curator", job_id=job)).text
        assert (await told("documents/retire", "curator", **named)).json()["state"] == "STATE_RETIRED"
        assert (await told("documents/retry", "curator", **named)).json()["state"] == "STATE_IN_REVIEW"
        assert (await told("documents/delete", "curator", **named)).status_code == 403
        assert (await told("documents/delete", "admin", **named)).status_code == 200


@asynccontextmanager
async def curated(base: Knowledge, folder: Path, callers: Path) -> AsyncIterator[str]:
    """The address of a service over this knowledge base, for these callers."""
    service = KnowledgeService(base.curation, base.jobs, Uploads(folder / "held", 1), ("safety",), "config")
    server = await serving.start(
        lambda one: add_KnowledgeServiceServicer_to_server(service, one),
        "127.0.0.1:0",
        access=Access(Known(callers=Callers(callers))),
    )
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        await server.stop()


async def test_a_call_over_http_is_counted_as_a_call_and_brings_its_trace() -> None:
    labels = {"method": "radrag.assistant.v1.AssistantService/Search", "code": "OK"}

    def counted() -> float:
        return REGISTRY.get_sample_value("radrag_requests_total", labels) or 0.0

    before = counted()
    async with asking() as both:
        await both.http.post("/v1/search", json={"question": QUESTION})
    assert counted() == before + 1
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert ("traceparent", trace) in calls.terms({"traceparent": trace}, "r1").metadata


async def test_nobody_says_over_http_for_whom_he_calls() -> None:
    """Headers that name a caller are metadata of our own services: from outside they are not passed on."""
    terms = calls.terms({"radrag-subject": "chief", "radrag-roles": "admin"}, "r1")
    assert terms.metadata == (("radrag-request-id", "r1"),)


async def test_a_body_that_comes_byte_by_byte_costs_time_in_proportion() -> None:
    pieces = iter([b" "] * 400_000 + [b""])

    async def receive() -> dict[str, object]:
        piece = next(pieces)
        return {"type": "http.request", "body": piece, "more_body": bool(piece)}

    headers = [(b"content-type", b"application/json")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    began = time.process_time()
    assert len(await app._body(request, 60.0)) == 400_000
    assert time.process_time() - began < 5  # copied for every piece it would be 80 GB


async def test_http_faults_are_problems_too() -> None:
    async with asking() as both:
        for reply, status in (
            (await both.http.get("/v1/search"), 405),
            (await both.http.get("/v1/nowhere"), 404),
            (await both.http.post("/v1/search", content="question=x"), 415),
            (await both.http.post("/v1/search", json={"question": "x" * 1_000_001}), 413),
        ):
            assert (reply.status_code, reply.json()["status"]) == (status, status)
            assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("who", "status"), [("Bearer radrag_x_y", 408), ("", 401)], ids=["a caller", "nobody"]
)
async def test_a_body_that_does_not_come_holds_no_connection(tmp_path: Path, who: str, status: int) -> None:
    """It has as long as the call; somebody without a credential has not even that."""
    path, _ = keys(tmp_path, reader={"roles": ["reader"]})
    async with served(without(), callers=path) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        shown = f"Authorization: {who}\r\n" if who else ""
        writer.write(
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Grpc-Timeout: 300m\r\nContent-Length: 1000\r\n" + shown.encode() + b"\r\n{"
        )
        async with asyncio.timeout(10):
            assert int((await reader.readline()).split()[1]) == status
        writer.close()
        await writer.wait_closed()


async def test_other_sites_cannot_ask() -> None:
    async with asking() as both:
        reply = await both.http.post(
            "/v1/search", json={"question": QUESTION}, headers={"Sec-Fetch-Site": "cross-site"}
        )
    assert reply.status_code == 403
    assert "access-control-allow-origin" not in reply.headers


async def test_every_reply_is_strict_about_what_a_page_may_load() -> None:
    async with asking() as both:
        for path in ("/v1/info", "/console/", "/openapi.json"):
            headers = (await both.http.get(path)).headers
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert headers["x-content-type-options"] == "nosniff"


async def test_a_caller_who_leaves_stops_the_generator() -> None:
    """Over a real HTTP connection: the generator is closed when the client has gone."""
    closed, began = asyncio.Event(), asyncio.Event()

    async def endless(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        try:
            began.set()
            await asyncio.sleep(60)
            yield Piece("", "", 1, 1)
        finally:
            closed.set()

    async with served(without(generate=endless)) as url, httpx.AsyncClient() as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(
                f"{url}/v1/generate", json={"question": QUESTION}, timeout=httpx.Timeout(5, read=1)
            )
        assert began.is_set()
        async with asyncio.timeout(2):
            await closed.wait()


async def test_a_call_that_breaks_off_between_frames_ends_with_the_event_error() -> None:
    """Its deadline passes while nothing that watches it is asked: the problem comes as the last event."""

    async def stuck(answer: object, pieces: object) -> AsyncGenerator[str, None]:
        yield "The first sentence. "
        await asyncio.sleep(30)

    async with asking(without(verify=stuck)) as both:
        headers = {**EVENTS, "Grpc-Timeout": "500m", "X-Request-Id": "r1"}
        got = await both.http.post("/v1/generate", json={"question": QUESTION}, headers=headers)
        stream = both.grpc.GenerateStream(wire.GenerateStreamRequest(question=QUESTION), timeout=0.5)
        with pytest.raises(aio.AioRpcError) as broken:
            async for _ in stream:
                pass
    *came, (kind, data) = [one.split("\n") for one in got.text.strip().split("\n\n")]
    assert (got.status_code, [one for one, _ in came]) == (200, ["event: sources", "event: text"])
    assert kind == "event: error"
    problem = json.loads(data.removeprefix("data: "))
    assert problem == {**problem, "status": 504, "code": broken.value.code().name, "request_id": "r1"}


async def test_a_stream_left_early_stops_the_generator() -> None:
    closed = asyncio.Event()

    async def endless(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        try:
            yield Piece(ANSWER, "", 1, 1)
            await asyncio.sleep(60)
        finally:
            closed.set()

    async with served(without(generate=endless)) as url, httpx.AsyncClient() as client:
        sent: dict[str, Any] = {"json": {"question": QUESTION}, "headers": EVENTS}
        async with client.stream("POST", f"{url}/v1/generate", **sent) as reply:
            assert await anext(reply.aiter_lines()) == "event: sources"
        async with asyncio.timeout(2):
            await closed.wait()


def test_the_list_of_paths_is_the_documents() -> None:
    document = json.loads(app.OPENAPI.read_text())
    assert set(document["paths"]) == {route.path for route in ROUTES}


def test_the_openapi_document_is_that_of_the_contracts_as_they_are() -> None:
    """Fails when a proto changed without `make protos`."""
    buf = Path(sys.executable).parent / "buf"
    built = subprocess.run(
        [buf, "build", "--as-file-descriptor-set", "-o", "-"], capture_output=True, check=True
    )
    document = openapi.document(FileDescriptorSet.FromString(built.stdout))
    assert document == json.loads(app.OPENAPI.read_text())
