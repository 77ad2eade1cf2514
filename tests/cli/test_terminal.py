"""For people: wrapped, coloured, drawn. Piped: plain and whole."""

import os
import subprocess
import sys
from select import select

import pytest

from cli.places import ROOT
from tests.cli import screens

LONG = "слово " * 60


def test_a_paragraph_is_wrapped_on_a_screen_and_whole_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    screen, pipe = screens.screen(), screens.pipe()
    screen.text(LONG)
    pipe.text(LONG)
    assert all(len(line) <= 80 for line in screens.out(screen).splitlines())
    assert screens.out(pipe) == LONG + "\n"


def test_colour_is_for_screens_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen, pipe = screens.screen(), screens.pipe()
    for terminal in (screen, pipe):
        terminal.text("warning", style="yellow")
    assert "\x1b[33m" in screens.out(screen)
    assert screens.out(pipe) == "warning\n"


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = screens.screen()
    screen.text("warning", style="yellow")
    assert "\x1b[33m" not in screens.out(screen)


def test_text_is_never_taken_for_markup() -> None:
    """Markers look like rich's tags."""
    screen = screens.screen()
    screen.text("limit [1] and [bold]")
    screen.table(["a"], [["[red]"]])
    assert "limit [1] and [bold]" in screens.out(screen)
    assert "[red]" in screens.out(screen)


def test_a_table_in_a_pipe_is_columns_without_trailing_spaces() -> None:
    pipe = screens.pipe()
    pipe.table(("stage", "ms"), [("embed", "1"), ("rerank", "20")])
    assert screens.out(pipe) == "stage   ms\nembed   1\nrerank  20\n"


def test_progress_replaces_itself_on_a_screen_and_is_not_for_pipes() -> None:
    screen, pipe = screens.screen(), screens.pipe()
    for terminal in (screen, pipe):
        for text in ("1/2 reading", "2/2", ""):
            terminal.progress(text)
    assert screens.err(screen) == "\r1/2 reading\r2/2        \r   \r"
    assert screens.err(pipe) == ""


def test_a_wait_is_said_once_where_there_is_no_screen() -> None:
    screen, pipe = screens.screen(), screens.pipe()
    for terminal in (screen, pipe):
        for text in ("for triton, gateway", "for triton, gateway", "for gateway"):
            terminal.waiting(text)
    assert screens.err(pipe) == "for triton, gateway\nfor gateway\n"
    assert screens.err(screen).endswith("\rfor gateway        ")


def test_json_keeps_cyrillic_readable() -> None:
    pipe = screens.pipe()
    pipe.json({"text": "доза"}, indent=None)
    assert screens.out(pipe) == '{"text": "доза"}\n'


def test_a_pipe_has_each_line_as_soon_as_it_is_written() -> None:
    work = "import sys; from cli import terminal; terminal.of_process().text('begun'); sys.stdin.read()"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe, line = subprocess.PIPE, [sys.executable, "-c", work]
    with subprocess.Popen(line, cwd=ROOT, env=environ, stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdout is not None
        there, _, _ = select([child.stdout], [], [], 30)
        child.communicate()
    assert there
