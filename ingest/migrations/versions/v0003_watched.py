"""What was last seen of each watched folder's file and page."""

import sqlalchemy as sa
from alembic import op

revision = "v0003"
down_revision = "v0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing was watched before."""
    op.create_table(
        "watched",
        sa.Column("uri", sa.String(2000), primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("etag", sa.String(1000), nullable=False),
        sa.Column("last_modified", sa.String(100), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
    )
