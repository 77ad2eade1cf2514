"""`radrag kb watch`: looks at the sources of a file, once or again and again, and says what changed."""

import argparse
import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import httpx

from cli import ingest
from cli.exits import Exit
from cli.terminal import Terminal
from ingest.catalogue.catalogue import Catalogue
from ingest.identity import document_id_of
from ingest.watch.address import Allowed, place_of
from ingest.watch.fetch import Fetcher, Manners
from ingest.watch.once import WHATS, Look, Watch, files_of
from ingest.watch.sources import Folder, Page, Sources, read_sources
from ingest.wiring import Plan, connected
from radrag.errors import Unavailable
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """One look, or one every so many seconds. Status 1 when a source failed; refused ones are told only."""
    ingest.there("SOURCES", given.sources)
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
    sources, refused = await asyncio.to_thread(apart, sources)
    catalogue = await Catalogue.opened(plan.catalogue_url)
    manners = Manners(seconds_between=sources.seconds_between, most_bytes=plan.files.file_bytes)
    try:
        async with (
            connected(plan, catalogue) as parts,
            Fetcher(Allowed(hosts(sources), sources.private), manners) as fetcher,
        ):
            return refused + await Watch(parts.pipeline, catalogue, fetcher).once(sources)
    finally:
        await catalogue.close()


def apart(sources: Sources) -> tuple[Sources, list[Look]]:
    """The sources to look at, and the refusals of those whose id another file or page would get as well.

    One id for several would make each look replace what the one before it had read.
    """
    watched: list[Folder | Page] = [*sources.folders, *sources.pages]
    ids = {source: ids_of(source) for source in watched}
    places: defaultdict[str, set[str]] = defaultdict(set)
    for uri, document_id in (one for found in ids.values() for one in found.items()):
        places[document_id].add(uri)
    shared = {source for source, found in ids.items() if any(len(places[one]) > 1 for one in found.values())}
    refused = [_clash(uri, one, places[one]) for source in shared for uri, one in ids[source].items()]
    folders = tuple(one for one in sources.folders if one not in shared)
    pages = tuple(one for one in sources.pages if one not in shared)
    return replace(sources, folders=folders, pages=pages), sorted(refused, key=lambda look: look.uri)


def ids_of(source: Folder | Page) -> dict[str, str]:
    """The id of each file or page of a source, by its URI. None for a folder that cannot be read."""
    if isinstance(source, Page):
        return {source.url: document_id_of(source.url, source.metadata)}
    try:
        return {path.as_uri(): document_id_of(path.as_uri(), source.metadata) for path in files_of(source)}
    except OSError:  # the look itself says so
        return {}


def _clash(uri: str, document_id: str, places: set[str]) -> Look:
    others = ", ".join(sorted(places - {uri}))
    reason = f"id: {document_id} would be the id of {others} too; give each an id or a source_uri of its own"
    return Look(uri, "failed", reason=reason)


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
