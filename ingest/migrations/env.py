"""Runs the migrations in the transaction of the connection it is given."""

from alembic import context

from ingest.catalogue.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()
