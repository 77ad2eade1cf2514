"""A hub and a mirror on this machine: Hugging Face's paths, ranges, and how downloads go wrong."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "7292217af9a9e6dbf07048f76b434ad1e2aa8b76"
LARGE = 10_000  # from this size on a file is kept apart, and its sha256 is told


@dataclass
class Hub:
    """What is published, and what goes wrong: the next answers are cut after so many bytes, or are others."""

    files: dict[str, bytes]
    cut: list[int] = field(default_factory=list)
    corrupt: set[str] = field(default_factory=set)
    ranges: bool = True
    page: int = 100
    token: str = ""
    endless: bool = False
    pause: threading.Event | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    def listing(self, start: int) -> list[dict[str, object]]:
        names = sorted(self.files)[start : start + self.page]
        return [{"type": "directory", "path": "1_Pooling"}, *(self.entry(name) for name in names)]

    def entry(self, name: str) -> dict[str, object]:
        content = self.files[name]
        git = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        entry: dict[str, object] = {"type": "file", "path": name, "size": len(content), "oid": git}
        if len(content) >= LARGE:
            entry["oid"] = "0" * 40  # of the pointer, not of the content
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
        return entry

    def sent(self, name: str) -> bytes:
        content = self.files[name]
        return content[:-1] + b"!" if name in self.corrupt else content


class Handler(BaseHTTPRequestHandler):
    """Answers for `hub`, which a subclass has."""

    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        hub = self.hub
        hub.asked.append((self.path, self.headers.get("Range", "")))
        path, _, query = self.path.partition("?")
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            self.reply(403, b"")
        elif path.startswith("/api/models/a/b/revision/"):
            self.reply(200, json.dumps({"sha": COMMIT}).encode())
        elif path == f"/api/models/a/b/tree/{COMMIT}":
            self.list(int(query.partition("start=")[2] or 0))
        elif path.startswith(f"/a/b/resolve/{COMMIT}/"):
            self.redirect(path.removeprefix(f"/a/b/resolve/{COMMIT}/"))
        elif path.rpartition("/")[2] in hub.files or path.removeprefix("/files/") in hub.files:
            self.send(path.removeprefix("/files/"))
        else:
            self.reply(404, b"")

    def list(self, start: int) -> None:
        following = start + self.hub.page
        link = f'<{self.hub.url}{self.path.partition("?")[0]}?recursive=true&start={following}>; rel="next"'
        headers = {"Link": link} if following < len(self.hub.files) else {}
        self.reply(200, json.dumps(self.hub.listing(start)).encode(), **headers)

    def redirect(self, name: str) -> None:
        self.reply(302, b"", Location=f"{self.hub.url}/files/{name}")

    def send(self, name: str) -> None:
        content, hub = self.hub.sent(name), self.hub
        asked = self.headers.get("Range", "")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and hub.ranges else 0
        self.send_response(206 if start else 200)
        if hub.endless:
            self.end_headers()
            self.forever()
            return
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if hub.pause:
            hub.pause.wait(10)
        cut = hub.cut.pop(0) if hub.cut and len(content) >= LARGE else len(content)
        self.wfile.write(content[start : start + cut])
        self.close_connection = start + cut < len(content)

    def forever(self) -> None:
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def reply(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def published(files: dict[str, bytes], **more: object) -> Iterator[Hub]:
    """A running hub with these files as a/b."""
    hub = Hub(files, **more)  # type: ignore[arg-type]
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
