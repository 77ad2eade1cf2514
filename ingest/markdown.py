"""Reads Markdown and plain text: takes away what is not the document's text, keeps the rest as it stands."""

import re

from ingest.canonical import canonical
from ingest.document import Parsed
from ingest.encoding import decode, flags_of, on_record
from ingest.load import Source

FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?\n)?(---|\.\.\.)[ \t]*(\n|\Z)", re.S)
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.S | re.M)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*)$", re.M)


def parse_markdown(source: Source) -> Parsed:
    """Markdown without front matter and comments; its title is its first heading."""
    text, encoding = decode(source.name, source.data)
    markdown = canonical(without_comments(FRONT_MATTER.sub("", text.replace("\r\n", "\n"))))
    engine, flags = on_record("markdown", encoding), flags_of(encoding)
    return Parsed(markdown, title_of(markdown), engine, flags=flags)


def parse_text(source: Source) -> Parsed:
    """Plain text as it stands; a line that would become a heading by chance is escaped."""
    text, encoding = decode(source.name, source.data)
    plain = re.sub(r"(?m)^(\s{0,3})(#{1,6}\s)", r"\1\\\2", canonical(text))
    return Parsed(plain, "", engine=on_record("text", encoding), flags=flags_of(encoding))


def without_comments(text: str) -> str:
    """Takes HTML comments out, but not out of code, where they are text."""
    parts, at = [], 0
    for fence in FENCE.finditer(text):
        parts += [uncommented(text[at : fence.start()]), fence.group()]
        at = fence.end()
    return "".join([*parts, uncommented(text[at:])])


def uncommented(text: str) -> str:
    """A comment that never ends is text: looking for the end of each of many such would take for ever."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + len("-->")
    return "".join([*parts, text[at:]])


def title_of(markdown: str) -> str:
    """The first heading outside code, without its marks; empty when there is none."""
    titles = (unmarked(found.group(1)) for found in HEADING.finditer(FENCE.sub("", markdown)))
    return next(filter(None, titles), "")


def unmarked(heading: str) -> str:
    """Without the marks that close it. In steps: one pattern would try every split of a row of spaces."""
    text = heading.strip()
    opened = text.rstrip("#")
    return re.sub(r"[*_`]", "", text if opened[-1:].strip() else opened).strip()
