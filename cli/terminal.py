"""Where a command writes: wrapped and coloured for people, plain and complete when piped.

Results go to `out`; progress and complaints go to `err`, so that a pipe carries results alone.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


@dataclass
class Terminal:
    """A pair of streams. `people` says that somebody reads `out` on a screen."""

    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    people: bool = False
    _progress: int = 0  # length of the progress line on the screen
    _said: str = ""  # the last progress line where there is no screen

    def text(self, text: str = "", style: str = "", indent: int = 0) -> None:
        """A paragraph: wrapped to the screen for people, as it is otherwise."""
        console = self._console()
        if console is None or not text:
            print(" " * indent + text, file=self.out)
            return
        from rich.padding import Padding  # noqa: PLC0415  only where a screen is
        from rich.text import Text  # noqa: PLC0415

        console.print(Padding(Text(text, style=style), (0, 0, 0, indent), expand=False))

    def piece(self, text: str) -> None:
        """A piece of streamed text, at once."""
        self.out.write(text)
        self.out.flush()

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows below headings: a drawn table for people, padded columns otherwise."""
        console = self._console()
        if console is None:
            self._columns(headings, rows)
            return
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(*headings, box=SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)

    def _columns(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        lines = [headings, *rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
        for line in lines:
            print("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip(), file=self.out)

    def json(self, value: object, indent: int | None = 2) -> None:
        """A value as JSON, Cyrillic as it is; `indent` None makes it one line."""
        print(json.dumps(value, ensure_ascii=False, indent=indent), file=self.out, flush=True)

    def note(self, text: str) -> None:
        """A line beside the results: what is being done, or what went wrong."""
        self.progress("")
        print(text, file=self.err, flush=True)

    def progress(self, text: str) -> None:
        """Replaces the progress line, on a screen only; empty text removes it."""
        if not self.err.isatty():
            return
        self.err.write("\r" + text.ljust(self._progress) + ("" if text else "\r"))
        self.err.flush()
        self._progress = len(text)

    def waiting(self, text: str) -> None:
        """The progress line of a wait; without a screen a line of its own whenever it says something new."""
        if self.err.isatty():
            self.progress(text)
        elif text != self._said:
            print(text, file=self.err, flush=True)
            self._said = text

    def _console(self) -> "Console | None":
        if not self.people:
            return None
        try:
            from rich.console import Console  # noqa: PLC0415  the base install has no rich
        except ModuleNotFoundError:
            return None
        return Console(file=self.out, highlight=False, soft_wrap=False)


def of_process() -> Terminal:
    """This process's streams; for people when standard output is a terminal that can do more than print.

    Each line leaves when it is written, so that whoever reads through a pipe sees how far a command is.
    """
    if isinstance(sys.stdout, TextIOWrapper):  # a test's stand-in need not be one
        sys.stdout.reconfigure(line_buffering=True)
    return Terminal(people=sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
