"""A batch whose files are read by a Ray cluster, reached over its client's port: `make test-ray`."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cli.places import ROOT
from tests.integration.conftest import Stack
from tests.ports import free_port

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: make test-ray")

AUTH = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
PHYSICS = ROOT / "var" / "samples" / "physics"
DOCUMENTS = [
    PHYSICS / one for one in ("ct-dose.html", "mri-sequences.docx", "relaxation.md", "xray-basics.pdf")
]


@pytest.fixture
def head() -> Iterator[str]:
    """A cluster of this machine that wants its token, with a door for clients. Yields the door's address."""
    port, clients = free_port(), free_port()
    with TemporaryDirectory(prefix="ray") as folder:  # its sockets' paths have to be short
        line = [
            str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2",
            "--include-dashboard=false", f"--port={port}", f"--ray-client-server-port={clients}",
            f"--temp-dir={folder}",
        ]  # fmt: skip
        # The workers find the package as they would on a machine of their own.
        there = {**os.environ, **AUTH, "PYTHONPATH": str(ROOT)}
        child = subprocess.Popen(line, env=there, stdout=subprocess.DEVNULL)
        try:
            listening(clients)
            yield f"ray://127.0.0.1:{clients}"
        finally:
            child.terminate()
            child.wait(60)


def listening(port: int, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    with socket.socket() as one:
        while one.connect_ex(("127.0.0.1", port)):
            assert time.monotonic() < until, "the cluster's door stayed shut"
            time.sleep(0.5)


def test_a_batch_is_read_by_a_cluster_and_a_broken_file_costs_itself_alone(
    light: Stack, head: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nhalf a")
    files = [*map(str, DOCUMENTS), str(tmp_path / "broken.pdf")]
    here = replace(light, environ={**light.environ, **AUTH})
    done = here.radrag("ingest", *files, "--topic", "physics", "--ray", head, "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    told = {one["file"]: one["outcome"] for one in json.loads(done.stdout)["files"]}
    assert told == {**dict.fromkeys([one.name for one in DOCUMENTS], "in_review"), "broken.pdf": "failed"}


def test_a_cluster_that_wants_a_token_is_said_to_be_out_of_reach(light: Stack, head: str) -> None:
    done = light.radrag("ingest", str(DOCUMENTS[0]), "--topic", "physics", "--ray", head)
    assert done.returncode != 0
    assert "RAY_AUTH_TOKEN" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
