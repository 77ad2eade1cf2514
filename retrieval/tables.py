"""The tables behind `versions.py`, and how their rows become a snapshot."""

import json
from dataclasses import asdict, replace

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from retrieval.document import Document
from retrieval.fingerprint import Fingerprint, QueryEmbedder
from retrieval.frequencies import Frequencies
from retrieval.snapshot import Generation, Snapshot, Version

metadata = sql.MetaData()

state = sql.Table(
    "index_state",
    metadata,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("revision", sql.BigInteger, nullable=False),
)

generations = sql.Table(
    "generations",
    metadata,
    sql.Column("name", sql.String(40), primary_key=True),
    sql.Column("fingerprint", sql.Text, nullable=False),
    sql.Column("bm25_sha256", sql.String(64), nullable=False),
)

# `document` is what was published; `valid_to` is how it stands now. `frequencies`: see Frequencies.to_bytes.
versions = sql.Table(
    "versions",
    metadata,
    sql.Column("generation", sql.String(40), primary_key=True),
    sql.Column("edition", sql.String(32), primary_key=True),
    sql.Column("document_id", sql.String(200), nullable=False, index=True),
    sql.Column("version", sql.String(16), nullable=False),
    sql.Column("topic", sql.String(40), nullable=False),
    sql.Column("live", sql.Integer, nullable=False),
    sql.Column("valid_from", sql.Integer, nullable=False),
    sql.Column("valid_to", sql.Integer),
    sql.Column("document", sql.Text, nullable=False),
    sql.Column("parents", sql.Integer, nullable=False),
    sql.Column("children", sql.Integer, nullable=False),
    sql.Column("frequencies", sql.LargeBinary, nullable=False),
    sql.Column("revision", sql.BigInteger, nullable=False),
    sql.UniqueConstraint("generation", "document_id", "version"),
)

chores = sql.Table(
    "chores",
    metadata,
    sql.Column("generation", sql.String(40), primary_key=True),
    sql.Column("edition", sql.String(32), primary_key=True),
    sql.Column("topic", sql.String(40), nullable=False),
    sql.Column("document_id", sql.String(200), nullable=False),
    sql.Column("since", sql.BigInteger, nullable=False),  # seconds since 1970
)

# Made and compiled once: every commit asks for them.
MINE = versions.c.generation == sql.bindparam("wanted")
REVISION, GENERATIONS = sql.select(state.c.revision), sql.select(generations)
CHANGED = sql.select(versions).where(MINE, versions.c.revision > sql.bindparam("known"))
HOW_MANY = sql.select(sql.func.count()).select_from(versions).where(MINE)
EDITIONS = sql.select(versions.c.edition).where(MINE)


def row(generation: str, version: Version) -> dict[str, object]:
    """The row of a version."""
    document = version.document
    return {
        "generation": generation,
        "edition": version.edition,
        "document_id": document.document_id,
        "version": document.version,
        "topic": document.topic,
        "live": int(version.live),
        "valid_from": document.valid_from,
        "valid_to": document.valid_to,
        "document": json.dumps(asdict(document), ensure_ascii=False, sort_keys=True),
        "parents": version.parents,
        "children": version.children,
        "frequencies": version.frequencies.to_bytes(),
        "revision": version.revision,
    }


def generation_row(generation: Generation) -> dict[str, str]:
    """The row of a generation."""
    return {
        "name": generation.name,
        "fingerprint": json.dumps(asdict(generation.fingerprint), ensure_ascii=False, sort_keys=True),
        "bm25_sha256": generation.bm25_sha256,
    }


def read_snapshot(connection: Connection, known: Snapshot) -> Snapshot:
    """The tables as they are; reads in full only the rows that changed since the `known` snapshot."""
    revision = int(connection.execute(REVISION).scalar_one())
    if revision == known.revision:
        return known
    held: dict[str, Generation] = {}
    for one in connection.execute(GENERATIONS).all():
        fresh = Generation(one.name, _fingerprint(one.fingerprint), one.bm25_sha256)
        before = known.generations.get(one.name, fresh)
        same = replace(before, fingerprint=fresh.fingerprint, bm25_sha256=fresh.bm25_sha256)
        held[one.name] = same.holding(_versions(connection, same, known.revision))
    return Snapshot(revision, held)


def _versions(connection: Connection, known: Generation, revision: int) -> dict[str, Version]:
    mine = {"wanted": known.name, "known": revision}
    fresh = {one.edition: _version(one) for one in connection.execute(CHANGED, mine)}
    every = {**known.versions, **fresh}
    if connection.execute(HOW_MANY, mine).scalar_one() == len(every):
        return every
    kept = connection.execute(EDITIONS, mine).scalars()  # some were deleted
    return {edition: every[edition] for edition in kept}


def _version(one: "sql.Row[tuple[object, ...]]") -> Version:
    said = json.loads(one.document)
    said["access_labels"] = tuple(said["access_labels"])
    return Version(
        edition=one.edition,
        document=replace(Document(**said), valid_to=one.valid_to),
        live=bool(one.live),
        parents=one.parents,
        children=one.children,
        frequencies=Frequencies.from_bytes(one.frequencies, one.children),
        revision=one.revision,
    )


def _fingerprint(text: str) -> Fingerprint:
    said = json.loads(text)
    return Fingerprint(**{**said, "embedder": QueryEmbedder(**said["embedder"])})
