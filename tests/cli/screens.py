"""Terminals whose output can be read back."""

import io

from cli.terminal import Terminal


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def pipe() -> Terminal:
    return Terminal(io.StringIO(), io.StringIO(), people=False)


def screen() -> Terminal:
    return Terminal(Screen(), Screen(), people=True)


def out(terminal: Terminal) -> str:
    assert isinstance(terminal.out, io.StringIO)
    return terminal.out.getvalue()


def err(terminal: Terminal) -> str:
    assert isinstance(terminal.err, io.StringIO)
    return terminal.err.getvalue()
