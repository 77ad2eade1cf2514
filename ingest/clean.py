"""The clean stage: contents, reference lists and author blocks will be taken out here, each removal noted."""

from ingest.document import Parsed


async def clean(parsed: Parsed) -> Parsed:
    """The parsed text as it is. Whatever comes here must keep the page map true to the text."""
    return parsed
