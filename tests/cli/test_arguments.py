"""The command line's grammar."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from cli import arguments
from cli.exits import Exit


@pytest.mark.parametrize(
    "line",
    [
        "",
        "unheard-of",
        "ask",
        "ask q --timeout 0",
        "ask q --timeout soon",
        "ask q --sources 0",
        "ask q --stream --no-stream",
        "kb",
        "up now",
    ],
)
def test_a_wrong_line_ends_with_status_2_and_says_how_it_is_used(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        arguments.parsed(line.split())
    assert end.value.code == 2
    assert "usage: radrag" in capsys.readouterr().err


def test_help_documents_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        arguments.parsed(["--help"])
    assert end.value.code == 0
    assert "3 insufficient evidence" in capsys.readouterr().out


def test_filters_repeat() -> None:
    given = arguments.parsed(["ask", "q", "--topic", "physics", "--topic", "safety", "--language", "ru"])
    assert (given.topic, given.language) == (["physics", "safety"], ["ru"])


def test_ingest_takes_paths_and_how_to_treat_them() -> None:
    given = arguments.parsed(["ingest", "a.pdf", "folder", "--topic", "physics", "--approve"])
    assert (given.paths, given.topic, given.approve) == ([Path("a.pdf"), Path("folder")], "physics", True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ask q --timeout abc", "--timeout: must be a number of seconds, not 'abc'"),
        ("kb watch s.yaml --every abc", "--every: must be a number of seconds, not 'abc'"),
        ("kb watch s.yaml --every 59", "--every: must be at least 60"),
        ("ask q --timeout nan", "--timeout: must be above 0 and at most 86400"),
        ("ask q --sources few", "--sources: must be a whole number, 1 or more, not 'few'"),
    ],
)
def test_a_wrong_number_is_told_in_words(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments.parsed(line.split())
    assert capsys.readouterr().err.endswith(f"error: argument {said}\n")


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        arguments.parsed(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"radrag {version('radrag')}\n")


def test_the_readme_knows_every_exit_status_that_the_help_knows() -> None:
    def numbers(text: str) -> list[int]:
        return sorted(map(int, re.findall(r"\b(\d+) [a-z]", text)))

    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    said = readme.partition("Exit codes for scripts:")[2].partition(".")[0]
    assert numbers(said) == numbers(arguments.EXITS) == sorted(set(Exit) - {Exit.INTERRUPTED})
