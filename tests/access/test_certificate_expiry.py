"""When a server's certificate ends is on its page of metrics, by the files as they are."""

import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from radrag import serving
from radrag.access.certificates import http_context, server_credentials
from radrag.access.channels import Files
from radrag.access.opening import Access
from radrag.telemetry import reading
from tests.access.authority import Authority

NAME = "radrag_certificate_expiry_timestamp_seconds"


def days(page: str) -> dict[str, int]:
    """By listener, the days until its certificate ends."""
    return {
        one.labels["listener"]: round((one.value - time.time()) / 86_400)
        for one in reading.samples(page)
        if one.name == NAME
    }


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[str]:
    """Where a server's metrics are whose certificate ends in 20 days."""
    files = Authority(tmp_path).files("server", days=20)
    access = Access(server=files)
    server = await serving.start(lambda _: None, "127.0.0.1:0", access=access, metrics_host="127.0.0.1")
    yield f"http://127.0.0.1:{server.port + 200}/metrics"
    await server.stop()


def read(url: str) -> dict[str, int]:
    with urllib.request.urlopen(url, timeout=10) as reply:
        return days(reply.read().decode())


def renew(files: Files, by: Files, *parts: str) -> None:
    for part in parts:
        getattr(files, part).write_bytes(getattr(by, part).read_bytes())


async def test_a_renewal_is_told_of_though_nobody_has_called(page: str, tmp_path: Path) -> None:
    ours = Files(tmp_path / "server.pem", tmp_path / "server.key")
    assert read(page)["grpc"] == 20
    other = Authority(tmp_path / "renewed").files("server", days=90)
    renew(ours, other, "certificate")  # half of it: the old one goes on being shown
    assert read(page)["grpc"] == 20
    renew(ours, other, "key")
    assert read(page)["grpc"] == 90
    (tmp_path / "server.pem").unlink()
    assert read(page)["grpc"] == 90


def test_both_listeners_tell_of_whichever_ends_first_of_the_chain(tmp_path: Path) -> None:
    files, short = Authority(tmp_path).files("server", days=90), Authority(tmp_path).files("other", days=10)
    assert files.certificate and short.certificate  # noqa: PT018
    files.certificate.write_bytes(files.certificate.read_bytes() + short.certificate.read_bytes())
    server_credentials(files)
    http_context(files)
    assert days(generate_latest().decode()) == {"grpc": 10, "http": 10}
