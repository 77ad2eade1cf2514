"""Counts pages as they are read: by which engine, and why a page's own text was not trusted."""

import re

from ingest.document import Parsed
from ingest.load import Source
from ingest.parse import Parse
from radrag.telemetry import INGEST_PAGE_REASONS, INGEST_PAGES

NAME = re.compile(r"[a-z_]+")  # of a reason; what an engine said of itself is no name, and not counted


def counted(parse: Parse) -> Parse:
    """The same stage; what it reads is counted."""

    async def parsed(source: Source) -> Parsed:
        found = await parse(source)
        for record in found.records:
            INGEST_PAGES.labels(record.engine).inc()
            for reason in filter(NAME.fullmatch, record.reasons):
                INGEST_PAGE_REASONS.labels(reason).inc()
        return found

    return parsed
