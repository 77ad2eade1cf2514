"""Known vulnerabilities of the lock are found, accepted ones let pass, and a closed network is no failure."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from cli import vulnerable

ROOT = Path(__file__).parent.parent


@contextmanager
def osv(reply: object, status: int = 200) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """A stand-in's address, and the requests it got."""
    asked: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text("# made\nalpha==1.0\nbeta==2.0\n")
    return path


def test_a_vulnerable_version_is_named_and_fails(lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with osv({"results": [{}, {"vulns": [{"id": "GHSA-1"}, {"id": "PYSEC-2"}]}]}) as (url, asked):
        assert vulnerable.main(lock, url) == 1
    assert "beta==2.0: GHSA-1, PYSEC-2" in capsys.readouterr().out
    assert asked[0]["queries"][0] == {  # type: ignore[index]
        "package": {"ecosystem": "PyPI", "name": "alpha"},
        "version": "1.0",
    }


def test_an_accepted_one_passes_and_is_counted(
    lock: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vulnerable, "ACCEPTED", {"GHSA-1": "not our code path"})
    with osv({"results": [{}, {"vulns": [{"id": "GHSA-1"}]}]}) as (url, _):
        assert vulnerable.main(lock, url) == 0
    assert "0 of 2 packages, 1 ids accepted" in capsys.readouterr().out


def test_without_a_route_it_is_skipped_and_said(lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vulnerable.main(lock, "http://127.0.0.1:1") == 0
    assert "skipped, no route" in capsys.readouterr().out


@pytest.mark.parametrize("reply", [{}, {"results": [{}]}, {"results": "none"}])
def test_a_reply_of_another_form_is_no_all_clear(lock: Path, reply: object) -> None:
    with osv(reply) as (url, _), pytest.raises(ValueError, match="another form"):
        vulnerable.main(lock, url)


def test_a_refused_question_is_no_all_clear_and_a_failing_server_is_no_route(lock: Path) -> None:
    with osv({}, 400) as (url, _), pytest.raises(ValueError, match="400"):
        vulnerable.main(lock, url)
    with osv({}, 503) as (url, _):
        assert vulnerable.main(lock, url) == 0


def test_every_line_of_the_lock_is_asked_for() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert len(vulnerable.pinned(text)) == sum("==" in line for line in text.splitlines()) > 100
    with pytest.raises(ValueError, match="no pin"):
        vulnerable.pinned("alpha>=1\n")
