"""A collector for tests: takes spans as OTLP over HTTP, protobuf from ours and JSON from Triton."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """One span as it came in. Ids are hex, `parent` is empty for a root; instants are seconds."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    start: float
    end: float
    failed: bool
    attributes: Mapping[str, Any]
    events: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass
class Receiver:
    """A running collector: where it is, and what it got."""

    url: str = ""
    spans: list[Span] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def of(self, trace: str) -> list[Span]:
        return [span for span in list(self.spans) if span.trace == trace]

    def wait(self, trace: str, complete: Callable[[list[Span]], bool], seconds: float = 20) -> list[Span]:
        """The spans of a trace once they are complete; those there are when the time is up."""
        until = time.monotonic() + seconds
        while not complete(found := self.of(trace)) and time.monotonic() < until:
            time.sleep(0.05)
        return found


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A collector on a free port, until the end of the block."""
    got = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            got.bodies.append(body)
            binary = "protobuf" in self.headers.get("Content-Type", "")
            got.spans.extend(_of_protobuf(body) if binary else _of_json(body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    got.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _of_protobuf(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _attributes(resource.resource.attributes).get("service.name", "")
        for scope in resource.scope_spans:
            for one in scope.spans:
                yield Span(
                    service, one.name, one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex(),
                    one.start_time_unix_nano / 1e9, one.end_time_unix_nano / 1e9, one.status.code == 2,
                    _attributes(one.attributes), tuple(event.name for event in one.events),
                )  # fmt: skip


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


def _of_json(body: bytes) -> Iterator[Span]:
    for resource in json.loads(body)["resourceSpans"]:
        said = {pair["key"]: pair["value"] for pair in resource["resource"]["attributes"]}
        service = said.get("service.name", {}).get("stringValue", "")
        for scope in resource["scopeSpans"]:
            for one in scope["spans"]:
                attributes = {
                    pair["key"]: next(iter(pair["value"].values()), "") for pair in one.get("attributes", [])
                }
                yield Span(
                    service, one["name"], one["traceId"], one["spanId"], one.get("parentSpanId", ""),
                    int(one["startTimeUnixNano"]) / 1e9, int(one["endTimeUnixNano"]) / 1e9,
                    one.get("status", {}).get("code") == 2, attributes,
                    tuple(event["name"] for event in one.get("events", [])),
                )  # fmt: skip
