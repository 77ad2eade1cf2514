"""`radrag eval sample-size`: how many questions a study needs."""

import argparse
from collections.abc import Mapping

from cli.exits import Exit
from cli.terminal import Terminal
from evaluation.significance import sample_size


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints the number; status 2 when an argument is out of its limits."""
    try:
        screen.text(str(sample_size(given.margin, given.confidence, given.share, given.population)))
    except ValueError as error:
        screen.note(f"radrag eval sample-size: {error}")
        return Exit.USAGE
    return Exit.OK
