"""Makes a parsed file a document: its id, title and language, and its metadata checked against the limits."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePath

from ingest.canonical import canonical
from ingest.document import TIERS, Document, Metadata, Parsed
from ingest.language import language_of
from ingest.refusal import refused
from ingest.secret_uri import secret_in

TOPIC = re.compile(r"[a-z_]{1,40}")
LANGUAGE = re.compile(r"([a-z]{2})?")  # ISO 639-1
LONGEST_ID, LONGEST_TITLE = 200, 500


def check_metadata(name: str, metadata: Metadata, topics: Collection[str]) -> None:
    """Raises InvalidArgument, naming the file, the field and the limit, for what the index would refuse."""
    if not TOPIC.fullmatch(metadata.topic) or metadata.topic not in topics:
        raise refused(name, "topic", f"{metadata.topic!r} is unknown; it must be one of {', '.join(topics)}")
    if metadata.category not in TIERS:
        raise refused(name, "category", f"it must be one of {', '.join(TIERS)}")
    if not LANGUAGE.fullmatch(metadata.language):
        raise refused(name, "language", "it must be a code of two letters, as en or ru")
    if len(metadata.document_id) > LONGEST_ID:
        raise refused(name, "id", f"it has {len(metadata.document_id)} characters; the limit is {LONGEST_ID}")
    for field, value in (("id", metadata.document_id), ("source_uri", metadata.source_uri)):
        if secret := secret_in(value):
            raise refused(name, field, f"it carries {secret}, which looks like a secret; leave that out")
    if metadata.valid_from and metadata.valid_to and metadata.valid_to <= metadata.valid_from:
        raise refused(name, "valid_to", "it must be later than valid_from")


def document_of(name: str, metadata: Metadata, parsed: Parsed, raw: str = "") -> Document:
    """The document a file holds. `name` is its path below the root given, with forward slashes.

    `raw` is its Markdown before cleaning, when that is another text than `parsed` has.
    """
    text = canonical(parsed.markdown)
    known = replace(metadata, document_id=document_id_of(name, metadata))
    return Document(
        document_id=known.document_id,
        text=text,
        title=(metadata.title or parsed.title or PurePath(name).stem)[:LONGEST_TITLE],
        language=metadata.language or parsed.language or language_of(text),
        metadata=known,
        engine=parsed.engine,
        pages=parsed.pages,
        raw=raw or parsed.markdown,
        pictures=parsed.pictures,
        flags=parsed.flags,
        removals=parsed.removals,
        records=parsed.records,
    )


def unread_document(name: str, metadata: Metadata) -> Document:
    """What is known of a document before it is read."""
    known = replace(metadata, document_id=document_id_of(name, metadata))
    title = (metadata.title or PurePath(name).stem)[:LONGEST_TITLE]
    return Document(known.document_id, "", title, metadata.language, known, "")


def document_id_of(name: str, metadata: Metadata) -> str:
    """The id given, else the source's URI, else the name; a hash where these are too long for an id."""
    wished = metadata.document_id or metadata.source_uri or name
    return wished if len(wished) <= LONGEST_ID else hashlib.sha256(wished.encode()).hexdigest()
