"""The catalogue's first tables, and the triggers that keep texts and history as they were written."""

import sqlalchemy as sa
from alembic import op

revision = "v0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
KEPT = {"history": ("UPDATE", "DELETE"), "texts": ("UPDATE",)}


def upgrade() -> None:
    """Makes everything."""
    for make in (versions, chunks, others, jobs, feedback):
        make()
    for table, changes in KEPT.items():
        for change in changes:
            refuse(table, change)


def refuse(table: str, change: str) -> None:
    """Makes the database itself refuse a change of a table's rows."""
    name = f"{table}_{change.lower()}"
    if op.get_bind().dialect.name == "sqlite":
        stop = f"SELECT RAISE(ABORT, '{table} are kept as they were written')"
        op.execute(f"CREATE TRIGGER {name} BEFORE {change} ON {table} BEGIN {stop}; END")
        return
    stop = f"RAISE EXCEPTION '{table} are kept as they were written'"
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger AS $$ BEGIN {stop}; END $$ LANGUAGE plpgsql")
    op.execute(f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def versions() -> None:
    """Versions and their texts."""
    op.create_table(
        "versions",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("document_id", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=16), nullable=False),
        sa.Column("said_sha256", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=False),
        sa.Column("topic", sa.String(length=40), nullable=False),
        sa.Column("category", sa.String(length=20), nullable=False),
        sa.Column("tier", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=10), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.Date(), nullable=True),
        sa.Column("valid_to", sa.Date(), nullable=True),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("last_day", sa.Date(), nullable=True),
        sa.Column("access_labels", sa.JSON(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("removals", sa.JSON(), nullable=False),
        sa.Column("text_sha256", sa.String(length=64), nullable=False),
        sa.Column("raw_sha256", sa.String(length=64), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.Column("previous", NUMBER, nullable=True),
        sa.Column("approved_by", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("document_id", "version", "said_sha256", name="one_row_per_version"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_versions_source_uri"), "versions", ["source_uri"], unique=False)
    op.create_index(op.f("ix_versions_state"), "versions", ["state"], unique=False)
    op.create_index(op.f("ix_versions_text_sha256"), "versions", ["text_sha256"], unique=False)
    op.create_table(
        "texts",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )


def chunks() -> None:
    """Chunks as ranges."""
    op.create_table(
        "chunks",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("level", sa.String(length=6), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", "level", "start"),
    )


def others() -> None:
    """Bands, history and intents."""
    op.create_table(
        "bands",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("band", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number", "band"),
    )
    op.create_index(op.f("ix_bands_band"), "bands", ["band"], unique=False)
    op.create_table(
        "history",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("document_id", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=16), nullable=False),
        sa.Column("act", sa.String(length=20), nullable=False),
        sa.Column("before", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_history_document_id"), "history", ["document_id"], unique=False)
    op.create_index(op.f("ix_history_number"), "history", ["number"], unique=False)
    op.create_table(
        "intents",
        sa.Column("document_id", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=16), nullable=False),
        sa.Column("act", sa.String(length=20), nullable=False),
        sa.Column("number", NUMBER, nullable=True),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "version", "act"),
    )


def jobs() -> None:
    """Jobs."""
    op.create_table(
        "jobs",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("document_id", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("stage", sa.String(length=20), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("beat", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index(op.f("ix_jobs_document_id"), "jobs", ["document_id"], unique=False)
    op.create_index(op.f("ix_jobs_status"), "jobs", ["status"], unique=False)


def feedback() -> None:
    """Ratings."""
    op.create_table(
        "feedback",
        sa.Column("feedback_id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("request_id", sa.String(length=200), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("ratings", sa.JSON(), nullable=False),
        sa.Column("context_completeness", sa.Integer(), nullable=False),
        sa.Column("source_usefulness", sa.JSON(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("feedback_id"),
    )
    op.create_index(op.f("ix_feedback_request_id"), "feedback", ["request_id"], unique=False)
