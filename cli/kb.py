"""`radrag kb list`, and what all of `radrag kb` stands on: the catalogue, opened beside the index."""

import argparse
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from cli import ingest
from cli.exits import Exit
from cli.terminal import Terminal
from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import Entry
from ingest.catalogue.states import State
from ingest.curation import Curation
from ingest.indexed import OPTIONS, IndexedVersions
from radrag.access import channels
from radrag.settings import Settings

MOST = 1_000_000
HEADINGS = ("state", "topic", "language", "document", "version", "in force", "flags", "title")


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Lists versions, newest first."""
    states = [State(one) for one in given.state]
    async with opened(environ) as curation:
        found = await curation.catalogue.page(states, given.topic, MOST)
    if given.json:
        screen.json([as_data(one) for one in found])
    else:
        screen.table(HEADINGS, [row(one) for one in found])
    return Exit.OK


@asynccontextmanager
async def opened(environ: Mapping[str, str]) -> AsyncIterator[Curation]:
    """The catalogue and the index's side of it; the index is asked only when something is done to it."""
    settings = Settings.from_environ(environ)
    channels.show_credential(settings, settings.retrieval_address)
    plan = ingest.plan(settings, environ, "")
    catalogue = await Catalogue.opened(plan.catalogue_url)
    try:
        async with channels.channel(plan.retrieval_address, plan.tls, OPTIONS) as channel:
            yield Curation(catalogue, IndexedVersions(channel), plan.needed)
    finally:
        await catalogue.close()


def row(entry: Entry) -> tuple[str, ...]:
    """A version as a line of a table."""
    days = f"{entry.first_day or ''}{f' to {entry.last_day}' if entry.last_day else ''}"
    return (
        entry.state.value,
        entry.metadata.topic,
        entry.language,
        entry.document_id,
        entry.version,
        days,
        " ".join(entry.flags),
        entry.title,
    )


def as_data(entry: Entry) -> dict[str, object]:
    """A version for programs. Days are in force as they are now, the last one exclusive."""
    known = entry.metadata
    return {
        "document_id": entry.document_id,
        "version": entry.version,
        "state": entry.state.value,
        "since": instant(entry.since),
        "title": entry.title,
        "topic": known.topic,
        "category": known.category,
        "language": entry.language,
        "source_uri": known.source_uri,
        "licence": known.licence,
        "valid_from": _day(entry.first_day or known.valid_from),
        "valid_to": _day(entry.last_day or known.valid_to),
        "access_labels": list(known.access_labels),
        "approved_by": entry.approved_by,
        "engine": entry.engine,
        "flags": list(entry.flags),
    }


def instant(microseconds: int) -> str:
    """An instant as people and programs read it."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="seconds")


def _day(day: object) -> str | None:
    return str(day) if day else None
