"""`radrag kb watch`: looks at the sources of a file, once or again and again, and says what changed."""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

import httpx

from cli import ingest
from cli.exits import Exit
from cli.terminal import Terminal
from ingest.catalogue.catalogue import Catalogue
from ingest.watch.address import Allowed, place_of
from ingest.watch.fetch import Fetcher, Manners
from ingest.watch.once import WHATS, Look, Watch
from ingest.watch.sources import Sources, read_sources
from ingest.wiring import Plan, connected
from radrag.errors import Unavailable
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """One look, or one every so many seconds. Status 1 when a source failed; refused ones are told only."""
    plan = ingest.plan(Settings.from_environ(environ), environ, "")
    while given.every:
        try:
            report(given, screen, await look(read_sources(given.sources), plan))
        except Unavailable as error:  # a model or the index is away: the next look may find it
            screen.note(f"radrag: {error.message}")
        await asyncio.sleep(given.every)
    looks = await look(read_sources(given.sources), plan)
    report(given, screen, looks)
    return Exit.FAILURE if any(one.what == "failed" for one in looks) else Exit.OK


async def look(sources: Sources, plan: Plan) -> list[Look]:
    """Looks at everything once. Raises as `connected` does."""
    catalogue = await Catalogue.opened(plan.catalogue_url)
    manners = Manners(seconds_between=sources.seconds_between, most_bytes=plan.files.file_bytes)
    try:
        async with (
            connected(plan, catalogue) as parts,
            Fetcher(Allowed(hosts(sources), sources.private), manners) as fetcher,
        ):
            return await Watch(parts.pipeline, catalogue, fetcher).once(sources)
    finally:
        await catalogue.close()


def hosts(sources: Sources) -> frozenset[str]:
    """Who may be asked: the pages' own hosts, with their ports, and those named for redirects."""
    urls = [httpx.URL(page.url) for page in sources.pages]
    usual = {url.host for url in urls if url.port is None}
    return frozenset({*map(place_of, urls), *usual, *sources.redirects})


def report(given: argparse.Namespace, screen: Terminal, looks: Sequence[Look]) -> None:
    """What came of it; unchanged sources are counted only."""
    if given.json:
        screen.json(as_data(looks))
        return
    counts = Counter(one.what for one in looks)
    screen.table(WHATS, [tuple(str(counts[what]) for what in WHATS)])
    for one in looks:
        if one.what != "unchanged":
            screen.text(f"{one.what}: {one.uri}  {one.version} {one.state} {one.reason}".rstrip())
        for change in one.changes:
            screen.text(f"{change.kind}: {' › '.join(change.path)}", indent=2)
    if counts["new"] + counts["changed"]:
        screen.text("nothing is published until it is approved: radrag kb review")


def as_data(looks: Sequence[Look]) -> dict[str, object]:
    """The report for programs, without texts."""
    counts = Counter(one.what for one in looks)
    return {
        **{what: counts[what] for what in WHATS},
        "sources": [
            {
                "uri": one.uri,
                "what": one.what,
                "document_id": one.document_id,
                "version": one.version,
                "state": one.state,
                "reason": one.reason,
                "sections": [{"kind": change.kind, "heading_path": change.path} for change in one.changes],
            }
            for one in looks
        ],
    }
