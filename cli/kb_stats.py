"""`radrag kb stats`: how the knowledge base is composed."""

import argparse
from collections.abc import Mapping

from cli import kb
from cli.exits import Exit
from cli.terminal import Terminal


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Counts versions by state, and by category, language and topic."""
    async with kb.opened(environ) as curation:
        counts = await curation.catalogue.counts()
    if given.json:
        screen.json(counts)
        return Exit.OK
    for name, found in counts.items():
        screen.table((name, "versions"), [(value or "-", str(many)) for value, many in found.items()])
        screen.text()
    return Exit.OK
