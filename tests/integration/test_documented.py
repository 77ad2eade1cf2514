"""Every command and program of the documentation runs as it stands, against a running stack."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli import arguments, evaluate
from cli.places import ROOT
from tests.conftest import free_grpc_port
from tests.integration.conftest import Stack, environ, free_port

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")])
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Minutes each, on a stack of their own, in this order: opt-in by RADRAG_TEST_DOCUMENTED.
SLOW = (
    "make demo", "make up", ".venv/bin/radrag ingest --manifest", ".venv/bin/radrag eval functional",
    "make eval", "make down", ".venv/bin/radrag audit verify",
    ".venv/bin/radrag backup create", ".venv/bin/radrag backup verify",
)  # fmt: skip
# Runs of tests themselves, hours of them in part.
TESTS = ("make faults", "make fuzz", "make languages", "make prove")


def blocks(language: str) -> list[str]:
    found = (BLOCK.findall(page.read_text(encoding="utf-8")) for page in PAGES)
    return [text for page in found for kind, text in page if kind == language]


def commands() -> list[str]:
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return sorted({line for line in lines if line.strip()})


RUN = [one for one in commands() if not one.startswith((*SLOW, *TESTS))]


def test_commands_were_found_in_every_kind_of_page() -> None:
    kinds = {word for one in RUN for word in ("radrag", "curl", "grpcurl", "examples/") if word in one}
    assert kinds == {"radrag", "curl", "grpcurl", "examples/"}
    assert len(RUN) > 20


def test_what_is_set_apart_is_documented() -> None:
    for start in (*SLOW, *TESTS):
        assert any(one.startswith(start) for one in commands()), start


def test_every_target_is_one_that_make_has() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {one.split()[1] for one in commands() if one.startswith("make ")} <= targets


@pytest.mark.parametrize("command", [one for one in commands() if ".venv/bin/radrag" in one])
def test_the_command_is_one_that_radrag_takes(command: str) -> None:
    words = shlex.split(command)[1:]
    if words[0] == "eval":  # the program's own grammar takes any words after it
        evaluate.parsed(words[1:])
    else:
        arguments.parsed(words)


@pytest.mark.parametrize("command", RUN)
def test_the_command_runs(light: Stack, command: str) -> None:
    done = ran(light, ["bash", "-c", here(light, command)])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.skipif(not os.environ.get("RADRAG_TEST_DOCUMENTED"), reason="opt-in: a quarter of an hour")
def test_the_slow_commands_run_one_after_another(tmp_path: Path) -> None:
    triton = f"127.0.0.1:{free_grpc_port()}"
    addresses = {f"RADRAG_{one}_ADDRESS": f"127.0.0.1:{free_port()}" for one in ("INGEST", "HTTP")}
    stack = Stack(environ(tmp_path, triton, triton, triton, **addresses), {})
    for start in SLOW:
        for command in (one for one in commands() if one.startswith(start)):
            done = ran(stack, ["bash", "-c", here(stack, command)], seconds=1200)
            assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("text", blocks("python"))
def test_the_program_runs(light: Stack, text: str) -> None:
    done = ran(light, [sys.executable, "-c", here(light, text)])
    assert done.returncode == 0, done.stderr
    assert done.stdout


def here(stack: Stack, text: str) -> str:
    """The text with this stack's addresses in the place of the default ones."""
    for documented, ours in {
        "127.0.0.1:50051": stack.gateway,
        "127.0.0.1:50053": stack.environ["RADRAG_INGEST_ADDRESS"],
        "http://127.0.0.1:8080": stack.http,
        "var/callers.json": f"{stack.environ['RADRAG_HOME']}/callers.json",
        "var/radrag.tar": f"{stack.environ['RADRAG_HOME']}-copy.tar",
    }.items():
        text = text.replace(documented, ours)
    return text


def ran(stack: Stack, words: list[str], seconds: float = 120) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(
        [str(Path(sys.executable).parent), str(ROOT / "var/grpcurl"), stack.environ["PATH"]]
    )
    return subprocess.run(
        words,
        cwd=ROOT,
        env={**stack.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
