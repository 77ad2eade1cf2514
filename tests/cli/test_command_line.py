"""The command line as scripts meet it: a process with a status, two streams and signals."""

import ast
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli import quiet
from cli.exits import Exit

ROOT = Path(__file__).parents[2]


def started(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "cli", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(*words: str) -> tuple[int, str, str]:
    with started(*words) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_what_went_wrong_is_one_line_beside_an_empty_result() -> None:
    assert ended("ask", "q", "--address", "127.0.0.1:1") == (
        Exit.UNAVAILABLE,
        "",
        "radrag: nothing answers at 127.0.0.1:1; `radrag up` starts it\n",
    )


def test_wrong_arguments_end_with_2() -> None:
    assert ended("ask")[0] == Exit.USAGE


def test_eval_has_a_grammar_of_its_own() -> None:
    status, out, _ = ended("eval", "--help")
    assert (status, out.splitlines()[0].startswith("usage: radrag eval")) == (Exit.OK, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_waiting_command_at_once(number: signal.Signals) -> None:
    # Whoever runs the tests in the background has SIGINT ignored, and a child would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ends_at_once(number)
    finally:
        signal.signal(signal.SIGINT, before)


def ends_at_once(number: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with started("ask", "q", "--address", address, "--timeout", "50") as process:
            silent.settimeout(30)
            connection, _ = silent.accept()
            time.sleep(0.2)
            began = time.monotonic()
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            connection.close()
    assert (process.returncode, err) == (Exit.INTERRUPTED, "interrupted\n")
    assert time.monotonic() - began < 10


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    line = f"{sys.executable} -m cli doctor --json | head -c 1"
    finished = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (finished.stdout, finished.stderr) == ("[", "")


def test_this_process_and_its_children_stay_offline_and_off_proxies() -> None:
    environ = {"NO_PROXY": "corp,localhost", "http_proxy": "http://proxy"}
    quiet.hush(environ)
    quiet.hush(environ)
    assert environ["NO_PROXY"] == "corp,127.0.0.1,localhost,::1"
    assert environ["no_proxy"] == "127.0.0.1,localhost,::1"
    assert environ["HF_HUB_OFFLINE"] == "1"


def test_asking_imports_nothing_heavy() -> None:
    """`radrag ask` must start at once: no model client, no parser, no index."""
    code = "import cli.__main__, cli.question, sys; print(sorted({m.split('.')[0] for m in sys.modules}))"
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ
    ).stdout
    heavy = {"numpy", "docling", "tritonclient", "qdrant_client", "opentelemetry", "rich"}
    assert not heavy & set(ast.literal_eval(out))
