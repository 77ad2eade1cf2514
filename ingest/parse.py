"""Chooses the reader for a file: the kinds of this project's sources and what reads each."""

import asyncio
from collections.abc import Awaitable, Callable

from ingest.document import Parsed
from ingest.html.page import parse_html
from ingest.load import Source
from ingest.markdown import parse_markdown, parse_text
from ingest.refusal import refused

Parse = Callable[[Source], Awaitable[Parsed]]


def parser(docling: Parse) -> Parse:
    """The parse stage. `docling` reads PDF and DOCX; the rest is read here, in threads."""

    async def parse(source: Source) -> Parsed:
        """Raises InvalidArgument for a file that cannot be read or has no text."""
        if source.kind in {"pdf", "docx"}:
            parsed = await docling(source)
        else:
            parsed = await asyncio.to_thread(TEXT_PARSERS[source.kind], source)
        if not parsed.markdown.strip():
            raise refused(source.name, "content", "no text was found in it; at least one character is needed")
        return parsed

    return parse


TEXT_PARSERS: dict[str, Callable[[Source], Parsed]] = {
    "html": parse_html,
    "markdown": parse_markdown,
    "text": parse_text,
}
