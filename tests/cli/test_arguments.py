"""The command line's grammar."""

from pathlib import Path

import pytest

from cli import arguments


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
