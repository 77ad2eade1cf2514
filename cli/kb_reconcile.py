"""`radrag kb reconcile`: where catalogue and index differ, and the repair."""

import argparse
from collections.abc import Mapping, Sequence

from cli import kb
from cli.exits import Exit
from cli.kb_decide import publisher
from cli.terminal import Terminal
from ingest.reconcile import MEANING, Difference, compare, repair


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 0 when nothing differs, or nothing does any more; 1 when something still does."""
    async with kb.opened(environ) as curation:
        found = await compare(curation)
        left: Sequence[Difference] = found
        if found and not given.dry_run:
            await repair(found, curation, publisher(curation, environ))
            left = await compare(curation)
    if given.json:
        screen.json({"found": [_as_data(one) for one in found], "left": [_as_data(one) for one in left]})
    else:
        _show(screen, found, left, given.dry_run)
    return Exit.FAILURE if left else Exit.OK


def _show(screen: Terminal, found: Sequence[Difference], left: Sequence[Difference], dry: bool) -> None:
    if not found:
        screen.text("catalogue and index agree")
        return
    remaining = {(one.document_id, one.version) for one in left}
    rows = [
        (one.document_id, one.version or "all", MEANING[one.kind], _fate(one, remaining, dry))
        for one in found
    ]
    screen.table(("document", "version", "difference", "repair"), rows)


def _fate(one: Difference, remaining: set[tuple[str, str]], dry: bool) -> str:
    if dry:
        return "not asked for"
    return "left" if (one.document_id, one.version) in remaining else "done"


def _as_data(one: Difference) -> dict[str, str]:
    meaning = MEANING[one.kind]
    return {"kind": one.kind, "document_id": one.document_id, "version": one.version, "meaning": meaning}
