"""The examples run as they are documented, against the real stack."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import Stack

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
QUESTION = 'What does the knowledge base hold about "contrast media"?'


def run(stack: Stack, *command: str) -> str:
    done = subprocess.run(
        command, env=dict(stack.environ), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ask(light: Stack) -> None:
    told = run(light, sys.executable, str(EXAMPLES / "ask.py"), QUESTION)
    assert "[1]" in told
    assert "✓" in told


def test_stream(light: Stack) -> None:
    assert run(light, sys.executable, str(EXAMPLES / "stream.py"), QUESTION).endswith(
        "OUTCOME_ANSWERED: complete\n"
    )


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl on this machine")
def test_rest(light: Stack) -> None:
    told = run(light, str(EXAMPLES / "rest.sh"), QUESTION)
    assert '"outcome": "OUTCOME_ANSWERED"' in told
    assert told.index("event: sources") < told.index("event: text") < told.index("event: finish")
