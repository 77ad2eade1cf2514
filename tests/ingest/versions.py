"""Documents made of nothing but a text, and a catalogue they are taken into."""

from dataclasses import replace
from datetime import date
from typing import cast

from ingest.canonical import canonical
from ingest.catalogue import minhash
from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import ChunkRange, Entry
from ingest.document import Document, Metadata

DAY = date(2026, 12, 1)


def document(document_id: str, text: str, **said: object) -> Document:
    """A document in the topic safety; `said` are fields of its metadata, or its title."""
    written = canonical(text)
    title = cast(str, said.pop("title", f"Title of {document_id}"))
    known = replace(Metadata(document_id=document_id, topic="safety"), **said)  # type: ignore[arg-type]
    return Document(document_id, written, title, "en", known, "markdown", raw=written)


async def taken(catalogue: Catalogue, one: Document, subject: str = "uploader") -> Entry:
    """Takes it in, as one chunk."""
    ranges = [ChunkRange(level, 0, len(one.text), 1) for level in ("parent", "child")]
    return await catalogue.take_in(one, ranges, minhash.signature(one.text), subject)


async def approved(catalogue: Catalogue, one: Document, subject: str = "expert") -> Entry:
    """Takes it in and approves it."""
    entry = await taken(catalogue, one)
    return await catalogue.approve(entry.document_id, entry.version, subject, "fit", 1)


async def published(catalogue: Catalogue, one: Document, today: date = DAY) -> Entry:
    """Takes it in, approves it and publishes it, in the catalogue alone."""
    entry = await approved(catalogue, one)
    await catalogue.begin_publishing(entry.number, "expert", 1, today)
    return await catalogue.finish_publishing(entry.number, "expert", today)
