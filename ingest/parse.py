"""Chooses the reader for a file: the kinds of this project's sources and what reads each."""

import asyncio
from collections.abc import Awaitable, Callable

from ingest.document import Parsed
from ingest.html.page import parse_html
from ingest.load import Source
from ingest.markdown import parse_markdown, parse_text
from ingest.refusal import refused

Parse = Callable[[Source], Awaitable[Parsed]]

# A word that is longer holds data, not language; cutting one of millions of characters takes minutes.
LONGEST_WORD = 100_000


def parser(docling: Parse, seconds: float = 300.0) -> Parse:
    """The parse stage. `docling` reads PDF and DOCX; the rest is read here, in threads, within `seconds`.

    A thread cannot be ended: one that takes longer goes on in vain, but nobody waits for it.
    """

    async def parse(source: Source) -> Parsed:
        """Raises InvalidArgument for a file that cannot be read or has no text."""
        if source.kind in {"pdf", "docx"}:
            parsed = await docling(source)
        else:
            parsed = await in_time(source, seconds)
        if not parsed.markdown.strip():
            raise refused(source.name, "content", "no text was found in it; at least one character is needed")
        refuse_data(source.name, parsed.markdown)
        return parsed

    return parse


def refuse_data(name: str, text: str) -> None:
    """Raises InvalidArgument for a text with what cannot be a word."""
    longest = max(map(len, text.split()))
    if longest > LONGEST_WORD:
        limit = f"at most {LONGEST_WORD:,} are allowed; is there data in it?"
        raise refused(name, "content", f"a word of {longest:,} characters stands in it, {limit}")


async def in_time(source: Source, seconds: float) -> Parsed:
    """Raises InvalidArgument, also when the time is up."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(read_here, source)
    except TimeoutError:
        reason = f"it took longer than {seconds:g} s to read, which is the limit"
        raise refused(source.name, "time", reason) from None


def read_here(source: Source) -> Parsed:
    """Raises InvalidArgument."""
    try:
        return TEXT_PARSERS[source.kind](source)
    except RecursionError:
        reason = "its elements are nested too deeply to be read; hundreds are one inside the other"
        raise refused(source.name, "content", reason) from None


TEXT_PARSERS: dict[str, Callable[[Source], Parsed]] = {
    "html": parse_html,
    "markdown": parse_markdown,
    "text": parse_text,
}
