"""Runs one command: reads its arguments and the settings, imports its module, turns its end into a status."""

import argparse
import asyncio
import importlib
import os
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence

from cli import arguments, exits, quiet, terminal
from cli.exits import Exit
from cli.terminal import Terminal
from radrag.errors import InvalidArgument, RadragError
from radrag.settings import SettingError


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit status; argparse itself exits with 2 on wrong arguments."""
    quiet.hush(os.environ)
    given = arguments.parsed(sys.argv[1:] if words is None else words)
    screen = terminal.of_process()
    try:
        return asyncio.run(_stoppable(run(given, screen, os.environ)))
    except BrokenPipeError:  # `radrag … | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen.note("interrupted")
        return Exit.INTERRUPTED


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Runs the command that `given` names and says in one line what went wrong, if anything did."""
    command = importlib.import_module(given.module)
    try:
        check_text(given)
        return int(await command.run(given, screen, environ))
    except RadragError as error:
        screen.note(f"radrag: {error.message}")
        return exits.of_error(error)
    except SettingError as error:
        screen.note(f"radrag: {error}")
        return Exit.USAGE


def check_text(given: argparse.Namespace) -> None:
    """Raises InvalidArgument for a word that is not UTF-8. Paths may be any bytes, as to the system."""
    for name, value in vars(given).items():
        words = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
        try:
            " ".join(words).encode()
        except UnicodeEncodeError:
            raise InvalidArgument(name, "must be UTF-8 text") from None


async def _stoppable(work: Coroutine[None, None, int]) -> int:
    """Lets SIGTERM end the work as Ctrl-C does: what it holds is given back first."""
    task = asyncio.create_task(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


if __name__ == "__main__":
    sys.exit(main())
