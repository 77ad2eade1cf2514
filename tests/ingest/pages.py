"""A real web server on loopback whose pages a test writes; it keeps what it was asked."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTML = "text/html; charset=utf-8"


@dataclass
class Answer:
    """What a path answers. `seconds` before each of its `pieces`."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    pieces: int = 1


@dataclass
class Pages:
    """The pages by path, the requests so far, and where they are."""

    origin: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[float, str, Mapping[str, str]]] = field(default_factory=list)

    def page(self, path: str, text: str, **headers: str) -> str:
        """Writes an HTML page; its URL."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = f"<!DOCTYPE html><html><body><article>{text}</article></body></html>".encode()
        self.answers[path] = Answer(body, headers={"Content-Type": HTML, **named})
        return self.origin + path

    def paths(self) -> list[str]:
        """What was asked for, in order, robots.txt left out."""
        return [path for _, path, _ in self.asked if path != "/robots.txt"]


@contextmanager
def served() -> Iterator[Pages]:
    """A running server."""
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages.asked.append((time.monotonic(), self.path, dict(self.headers)))
            answer = pages.answers.get(self.path, Answer(status=404))
            etag = answer.headers.get("ETag")
            if etag and self.headers.get("If-None-Match") == etag:
                answer = Answer(status=304)
            modified = answer.headers.get("Last-Modified")
            if modified and self.headers.get("If-Modified-Since") == modified:
                answer = Answer(status=304)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self._write(answer)

        def _write(self, answer: Answer) -> None:
            try:
                for _ in range(answer.pieces):
                    time.sleep(answer.seconds)
                    self.wfile.write(answer.body)
            except OSError:
                pass  # the asker has had enough

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    pages.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
