"""The Java, Go and TypeScript examples, built from the contracts, ask the running gateway: make languages."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from cli.places import ROOT
from tests.integration.conftest import Stack

BUILT = ROOT / "var" / "languages"
EXAMPLES = {
    "java": ["java", "-cp", f"{BUILT}/java:/usr/share/java/*", "Ask"],
    "go": [str(BUILT / "ask")],
    "typescript": ["node", str(BUILT / "typescript/built/ask.js")],
}
QUESTION = "What does the knowledge base hold about contrast media?"

pytestmark = pytest.mark.skipif(
    not os.environ.get("RADRAG_TEST_LANGUAGES"), reason="opt-in: make languages installs the compilers"
)


def run(stack: Stack, command: Sequence[str], question: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, question],
        env=dict(stack.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("language", EXAMPLES)
def test_the_example_streams_the_answer_that_python_gets(light: Stack, language: str) -> None:
    done = run(light, EXAMPLES[language], QUESTION)
    assert done.returncode == 0, done.stderr
    # TypeScript's names of an enum's values go without its prefix.
    told = done.stdout.replace("\nANSWERED: ", "\nOUTCOME_ANSWERED: ")
    expected = run(light, [sys.executable, str(ROOT / "examples/stream.py")], QUESTION).stdout
    assert told.startswith(expected)
    assert re.match(r"\[\d+\] .+ ✓$", told.removeprefix(expected), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("language", EXAMPLES)
def test_a_refused_request_is_a_failure_with_its_status(light: Stack, language: str) -> None:
    done = run(light, EXAMPLES[language], "")
    assert done.returncode != 0
    assert "question" in done.stderr


def test_stubs_are_made_for_csharp_too() -> None:
    made = {path.name for path in (ROOT / "var/stubs/csharp").rglob("*.cs")}
    assert {"Assistant.cs", "Knowledge.cs"} <= made
