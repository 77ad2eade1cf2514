"""How each page of a version was read: by which engine, how surely, and why not from the file's own text."""

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Versions read before have no records."""
    records = sa.Column("page_records", sa.JSON(), nullable=False, server_default="[]")
    op.add_column("versions", records)
