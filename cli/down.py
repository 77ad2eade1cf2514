"""`radrag down`: stops what `up` started, and nothing else."""

import argparse
from collections.abc import Mapping

from cli import services, supervision
from cli.exits import Exit
from cli.terminal import Terminal
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Stopping what does not run is no failure."""
    profile = services.profile(Settings.from_environ(environ), environ)
    stopped = await supervision.down(profile.children, given.timeout)
    screen.text(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")
    return Exit.OK
