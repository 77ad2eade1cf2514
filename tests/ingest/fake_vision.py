"""A stand-in for an OpenAI-compatible server with a vision model: replies as told, keeps what was asked."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECE = 100_000
Reply = tuple[int, Any, float]
"""Status, body (JSON), and seconds to wait before it."""


def chat(text: object, finish: str = "stop", logprobs: list[float] | None = None) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": "x", "logprob": one} for one in logprobs]}
    return {"id": "1", "object": "chat.completion", "choices": [choice]}


class FakeVision:
    """Its address, its reply to every call, and the calls it got."""

    def __init__(self) -> None:
        self.reply: Reply = (200, chat(""), 0.0)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.pause = 0.0  # seconds between pieces of a reply
        self.sent = 0  # bytes of the last reply


@contextmanager
def serving() -> Iterator[FakeVision]:
    fake = FakeVision()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fake.asked.append({"path": self.path, **json.loads(body)})
            fake.headers.append(dict(self.headers))
            status, reply, wait = fake.reply
            time.sleep(wait)
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # whoever asked has gone
                self._write(data)

        def _write(self, data: bytes) -> None:
            fake.sent = 0
            for at in range(0, len(data), PIECE):
                fake.sent += self.wfile.write(data[at : at + PIECE])
                time.sleep(fake.pause)

        def log_message(self, *said: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
