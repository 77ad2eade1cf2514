"""The tables of the catalogue, as the newest migration leaves them; a test holds both against each other.

Texts stand in the database, by their sha256: a version and its text are written in one transaction, one thing
is backed up, and with PostgreSQL every machine sees them. Triggers keep texts and history from being changed.
"""

import sqlalchemy as sql

metadata = sql.MetaData()

SHA256, ID, VERSION = sql.String(64), sql.String(200), sql.String(16)
NUMBER = sql.BigInteger().with_variant(sql.Integer, "sqlite")  # SQLite counts up only INTEGER keys

# One row per version and what is said about it: the same text under another title is reviewed anew.
# `version` is empty until the text is known. Times are microseconds since 1970.
versions = sql.Table(
    "versions",
    metadata,
    sql.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sql.Column("document_id", ID, nullable=False),
    sql.Column("version", VERSION, nullable=False),
    sql.Column("said_sha256", SHA256, nullable=False),  # of what is said about it
    sql.Column("state", sql.String(20), nullable=False, index=True),
    sql.Column("since", sql.BigInteger, nullable=False),
    sql.Column("title", sql.String(500), nullable=False),
    sql.Column("topic", sql.String(40), nullable=False),
    sql.Column("category", sql.String(20), nullable=False),
    sql.Column("tier", sql.Integer, nullable=False),
    sql.Column("language", sql.String(10), nullable=False),
    sql.Column("source_uri", sql.Text, nullable=False, index=True),
    sql.Column("licence", sql.Text, nullable=False),
    sql.Column("valid_from", sql.Date),  # as given; `first_day` and `last_day` are what the index was told
    sql.Column("valid_to", sql.Date),
    sql.Column("first_day", sql.Date),
    sql.Column("last_day", sql.Date),
    sql.Column("access_labels", sql.JSON, nullable=False),
    sql.Column("engine", sql.Text, nullable=False),
    sql.Column("pages", sql.JSON, nullable=False),  # [start, end, page], …
    sql.Column("flags", sql.JSON, nullable=False),
    sql.Column("removals", sql.JSON, nullable=False),  # [rule, start, end, replacement] of raw
    sql.Column("page_records", sql.JSON, nullable=False),  # [page, engine, confidence or null, reasons], …
    sql.Column("text_sha256", SHA256, nullable=False, index=True),
    sql.Column("raw_sha256", SHA256, nullable=False),
    sql.Column("signature", sql.LargeBinary, nullable=False),  # MinHash
    sql.Column("previous", NUMBER),  # the version this one follows
    sql.Column("approved_by", sql.String(200), nullable=False),
    sql.UniqueConstraint("document_id", "version", "said_sha256", name="one_row_per_version"),
    sqlite_autoincrement=True,  # a number is never given twice: histories keep it
)

texts = sql.Table(
    "texts",
    metadata,
    sql.Column("sha256", SHA256, primary_key=True),
    sql.Column("text", sql.Text, nullable=False),
)

chunks = sql.Table(
    "chunks",
    metadata,
    sql.Column("number", NUMBER, primary_key=True, autoincrement=False),
    sql.Column("level", sql.String(6), primary_key=True),  # parent, child or noise
    sql.Column("start", sql.Integer, primary_key=True),
    sql.Column("end", sql.Integer, nullable=False),
    sql.Column("tokens", sql.Integer, nullable=False),
)

# Bands of the MinHash signatures: versions that share one are worth comparing.
bands = sql.Table(
    "bands",
    metadata,
    sql.Column("number", NUMBER, primary_key=True, autoincrement=False),
    sql.Column("band", sql.BigInteger, primary_key=True, index=True),
)

# Outlives what it tells of. `number` is the version's row.
history = sql.Table(
    "history",
    metadata,
    sql.Column("id", NUMBER, primary_key=True, autoincrement=True),
    sql.Column("number", NUMBER, nullable=False, index=True),
    sql.Column("document_id", ID, nullable=False, index=True),
    sql.Column("version", VERSION, nullable=False),
    sql.Column("act", sql.String(20), nullable=False),
    sql.Column("before", sql.String(20), nullable=False),
    sql.Column("state", sql.String(20), nullable=False),
    sql.Column("subject", ID, nullable=False),
    sql.Column("at", sql.BigInteger, nullable=False),
    sql.Column("reason", sql.Text, nullable=False),
)

# What is about to be done to index and catalogue both: written first, removed last. `version` may be empty.
intents = sql.Table(
    "intents",
    metadata,
    sql.Column("document_id", ID, primary_key=True),
    sql.Column("version", VERSION, primary_key=True),
    sql.Column("act", sql.String(20), primary_key=True),
    sql.Column("number", NUMBER),  # of a publication
    sql.Column("subject", ID, nullable=False),
    sql.Column("reason", sql.Text, nullable=False),
    sql.Column("day", sql.Date),
    sql.Column("at", sql.BigInteger, nullable=False),
)

# `key` says what is to be done to what with which settings: asked twice it is one job.
jobs = sql.Table(
    "jobs",
    metadata,
    sql.Column("job_id", sql.String(32), primary_key=True),
    sql.Column("key", SHA256, nullable=False, unique=True),
    sql.Column("kind", sql.String(20), nullable=False),  # read or publish
    sql.Column("document_id", ID, nullable=False, index=True),
    sql.Column("version", VERSION, nullable=False),
    sql.Column("subject", ID, nullable=False),
    sql.Column("given", sql.JSON, nullable=False),  # what the work needs besides
    sql.Column("status", sql.String(10), nullable=False, index=True),  # queued, running, done, failed
    sql.Column("stage", sql.String(20), nullable=False),
    sql.Column("progress", sql.Float, nullable=False),
    sql.Column("state", sql.String(20), nullable=False),
    sql.Column("error", sql.Text, nullable=False),
    sql.Column("attempts", sql.Integer, nullable=False),
    sql.Column("owner", sql.Text, nullable=False),
    sql.Column(
        "beat", sql.BigInteger, nullable=False
    ),  # the owner's last sign of life; when to start, queued
)

feedback = sql.Table(
    "feedback",
    metadata,
    sql.Column("feedback_id", sql.String(32), primary_key=True),
    sql.Column("at", sql.BigInteger, nullable=False),
    sql.Column("request_id", sql.String(200), nullable=False, index=True),
    sql.Column("subject", ID, nullable=False),
    sql.Column("ratings", sql.JSON, nullable=False),
    sql.Column("context_completeness", sql.Integer, nullable=False),
    sql.Column("source_usefulness", sql.JSON, nullable=False),
    sql.Column("comment", sql.Text, nullable=False),
)

# What was last seen of each watched source: a later look asks only for what is newer.
watched = sql.Table(
    "watched",
    metadata,
    sql.Column("uri", sql.String(2000), primary_key=True),
    sql.Column("sha256", SHA256, nullable=False),
    sql.Column("etag", sql.String(1000), nullable=False),
    sql.Column("last_modified", sql.String(100), nullable=False),
    sql.Column("at", sql.BigInteger, nullable=False),
)
