"""`radrag kb list`: the documents that can be found."""

import argparse
from collections.abc import Mapping
from datetime import date, timedelta

from cli import index
from cli.exits import Exit
from cli.plain import plain
from cli.terminal import Terminal
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Lists them by topic and title."""
    held = await index.describe(Settings.from_environ(environ).retrieval_address, documents=True)
    found = [one for one in held.documents if not given.topic or one.topic in given.topic]
    found.sort(key=lambda one: (one.topic, one.title))
    if given.json:
        screen.json([plain(one) for one in found])
        return Exit.OK
    rows = [(d.topic, d.language, d.document_id, d.version[:8], _day(d.valid_from), d.title) for d in found]
    screen.table(("topic", "language", "document", "version", "in force from", "title"), rows)
    return Exit.OK


def _day(number: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
