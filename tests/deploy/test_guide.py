"""The operations guide: each command of ours is one that the program takes, each file it names is there."""

import re
import shlex

import pytest

from cli import arguments, evaluate
from cli.places import ROOT

GUIDES = [ROOT / "deploy" / name for name in ("README.md", "SCALING.md")]
MEASURING = ROOT / "evaluation" / "README.md"
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in GUIDES)
MADE = {"deploy/callers.json", "deploy/service-key"}  # by the operator
COMMAND = re.compile(
    r"^    \$ (?:[A-Z_]+=\S+ )?(?:cd \S+ && |make judge && )?(?:\.venv(?:-judge)?/bin/)?radrag (.*)$",
    re.MULTILINE,
)
COMMANDS = COMMAND.findall(TEXT)
MEASUREMENTS = COMMAND.findall(MEASURING.read_text(encoding="utf-8"))


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 15
    assert len(MEASUREMENTS) > 15


@pytest.mark.parametrize("line", sorted({*COMMANDS, *MEASUREMENTS}))
def test_the_command_is_one_that_radrag_takes(line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "eval":  # the program's own grammar takes any words after it
        evaluate.parsed(words[1:])
    else:
        arguments.parsed(words)


def test_every_file_and_every_target_named_is_there() -> None:
    for path in GUIDES:
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
        assert [link for link in links if not (path.parent / link).exists()] == []
    named = set(re.findall(r"\b((?:deploy|model_repository|benchmarks|tests)/[\w./-]*[\w-])", TEXT))
    assert [one for one in named if not (ROOT / one).exists() and one not in MADE] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", TEXT)) <= targets
