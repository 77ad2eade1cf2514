"""Every command and program of the guide runs as it stands, against a running stack.

Of the commands at a prompt in the READMEs, those of `radrag` and `make` are held to their grammar; the
README's program and its curl line run too.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import dropwhile, groupby
from pathlib import Path

import pytest

from cli import arguments, evaluate
from cli.places import ROOT
from tests.integration.conftest import Stack, environ
from tests.ports import free_grpc_port, free_port

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")])
READMES = [ROOT / one for one in ("README.md", "deploy/README.md", "evaluation/README.md")]
TABLES = [ROOT / one for one in ("gateway/README.md", "gateway/web/README.md")]
NAMED = re.compile(r"`((?:radrag|make) [^`]+)`")
TYPED = re.compile(r"^    \$ (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Minutes each, on a stack of their own, in this order: opt-in by RADRAG_TEST_DOCUMENTED.
SLOW = (
    "make demo", "make up", ".venv/bin/radrag ingest --manifest", ".venv/bin/radrag eval functional",
    "make eval", "make down", ".venv/bin/radrag audit verify",
    ".venv/bin/radrag backup create", ".venv/bin/radrag backup verify",
)  # fmt: skip
# Runs of tests themselves, hours of them in part.
TESTS = ("make faults", "make fuzz", "make languages", "make prove")


def typed() -> list[list[str]]:
    """The words of each `radrag` and `make` command of a README: at a prompt, in a pod, in a table."""
    lines = [line for page in READMES for line in TYPED.findall(page.read_text(encoding="utf-8"))]
    lines += [line for page in TABLES for line in NAMED.findall(page.read_text(encoding="utf-8"))]
    found = [alone(words) for line in lines for words in simple(line)]
    return [[Path(words[0]).name, *words[1:]] for words in found if words and Path(words[0]).name in OURS]


OURS = ("radrag", "make")


def simple(line: str) -> Iterator[list[str]]:
    """The simple commands of a line, without its comment."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    for joined, some in groupby(words, lambda word: set(word) <= set("&|;")):
        if not joined:
            yield list(some)


def alone(words: list[str]) -> list[str]:
    """The command itself: neither what runs it in a pod nor what is set for it."""
    if words[0] == "kubectl" and "--" in words:
        words = words[words.index("--") + 1 :]
    return list(dropwhile(lambda word: word == "env" or re.match(r"\w+=", word), words))


def blocks(language: str) -> list[str]:
    found = (BLOCK.findall(page.read_text(encoding="utf-8")) for page in PAGES)
    return [text for page in found for kind, text in page if kind == language]


def programs(page: Path) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == "python"]


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
    assert {one.split()[1] for one in commands() if one.startswith("make ")} <= targets()


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("command", [one for one in commands() if ".venv/bin/radrag" in one])
def test_the_command_is_one_that_radrag_takes(command: str) -> None:
    taken(shlex.split(command)[1:])


def test_the_commands_of_the_readmes_were_found() -> None:
    """With what stands before them and what follows: a setting, another command, a pod, a comment."""
    for one in (
        ["make", "demo"],
        ["radrag", "ingest", "PATH…", "--topic", "safety"],
        ["radrag", "backup", "create", "radrag.tar"],
        ["make", "up"],
        ["radrag", "kb", "reindex", "switch", "--questions", "questions.jsonl"],
        ["radrag", "kb", "reconcile", "--dry-run"],
        ["radrag", "eval", "retrieval", "--mixed", "../shared/data"],
        ["radrag", "replay", "FILE.json"],
    ):
        assert one in typed(), one


@pytest.mark.parametrize("words", typed(), ids=" ".join)
def test_the_readmes_command_is_one_that_there_is(words: list[str]) -> None:
    if words[0] == "radrag":
        taken(words[1:])
    else:
        assert set(words[1:]) <= targets()


def taken(words: list[str]) -> None:
    """Ends the test where `radrag` would refuse its arguments."""
    if words[0] == "eval":  # the program's own grammar takes any words after it
        evaluate.parsed(words[1:])
    else:
        arguments.parsed(words)


def test_the_readmes_request_is_answered(light: Stack) -> None:
    (line,) = (one for one in TYPED.findall(READMES[0].read_text(encoding="utf-8")) if one.startswith("curl"))
    done = ran(light, ["bash", "-c", here(light, line)])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"].startswith("OUTCOME_"), done.stdout


@pytest.mark.parametrize("command", RUN)
def test_the_command_runs(light: Stack, command: str) -> None:
    done = ran(light, ["bash", "-c", here(light, command)])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.skipif(not os.environ.get("RADRAG_TEST_DOCUMENTED"), reason="opt-in: a quarter of an hour")
def test_the_slow_commands_run_one_after_another(tmp_path: Path) -> None:
    triton = f"127.0.0.1:{free_grpc_port()}"
    addresses = {f"RADRAG_{one}_ADDRESS": f"127.0.0.1:{free_port()}" for one in ("INGEST", "HTTP")}
    stack = Stack(environ(tmp_path, triton, triton, triton, **addresses), {})
    try:
        for command in (one for start in SLOW for one in commands() if one.startswith(start)):
            done = ran(stack, ["bash", "-c", here(stack, command)], seconds=1200)
            assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    finally:
        ran(stack, ["make", "down"])


@pytest.mark.parametrize("text", [*blocks("python"), *programs(READMES[0])])
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
        " 127.0.0.1:8080": f" {stack.http}",
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
