"""The real Prometheus and promtool: `make prometheus` puts them where they are found."""

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.places import ROOT
from cli.process import Child
from tests.conftest import ran


def program(name: str) -> str:
    """Where `prometheus` or `promtool` is."""
    ours = ROOT / "var" / "prometheus" / "usr" / "bin" / name
    found = shutil.which(name) or (str(ours) if ours.exists() else None)
    if found is None:
        pytest.fail(f"{name} is missing: run `make prometheus`")
    return found


def promtool(*words: str, folder: Path | None = None) -> str:
    """What promtool says. Fails the test when it finds something wrong."""
    line = [program("promtool"), *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Prometheus:
    """A running server."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of a reply of its HTTP API."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series of an instant query."""
        found: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return found

    def wait(self, expression: str, seconds: float = 60) -> list[dict[str, Any]]:
        """The same, once there are some."""
        until = time.monotonic() + seconds
        while not (found := self.query(expression)):
            assert time.monotonic() < until, f"nothing to see after {seconds:.0f} s: {expression}"
            time.sleep(0.5)
        return found


@contextmanager
def prometheus(folder: Path, port: int, targets: Mapping[str, str], rules: Path) -> Iterator[Prometheus]:
    """A server that scrapes each job's address every second, under these rules."""
    jobs = [{"job_name": job, "static_configs": [{"targets": [address]}]} for job, address in targets.items()]
    settings = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": jobs,
    }
    (folder / "prometheus.yaml").write_text(json.dumps(settings))
    child = Child("prometheus", folder)
    line = [
        program("prometheus"), f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
        "--enable-feature=exemplar-storage",
    ]  # fmt: skip
    child.start(tuple(line), {"PATH": "/usr/bin:/bin"}, folder)
    server = Prometheus(f"127.0.0.1:{port}")
    try:
        until = time.monotonic() + 30
        while True:
            try:
                server.query("vector(1)")
                break
            except OSError:
                assert time.monotonic() < until, "\n".join(child.last_lines())
                time.sleep(0.2)
        yield server
    finally:
        ran(child.stop(10))
