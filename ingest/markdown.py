"""Reads Markdown and plain text: takes away what is not the document's text, keeps the rest as it stands."""

import re

from ingest.canonical import canonical
from ingest.document import Parsed
from ingest.encoding import decode
from ingest.load import Source

FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?\n)?(---|\.\.\.)[ \t]*(\n|\Z)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.S | re.M)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.M)


def parse_markdown(source: Source) -> Parsed:
    """Markdown without front matter and comments; its title is its first heading."""
    text = FRONT_MATTER.sub("", decode(source.name, source.data)[0].replace("\r\n", "\n"))
    markdown = canonical(without_comments(text))
    return Parsed(markdown, title_of(markdown), engine="markdown")


def parse_text(source: Source) -> Parsed:
    """Plain text as it stands; a line that would become a heading by chance is escaped."""
    text = canonical(decode(source.name, source.data)[0])
    return Parsed(re.sub(r"(?m)^(\s{0,3})(#{1,6}\s)", r"\1\\\2", text), "", engine="text")


def without_comments(text: str) -> str:
    """Takes HTML comments out, but not out of code, where they are text."""
    parts, at = [], 0
    for fence in FENCE.finditer(text):
        parts += [COMMENT.sub("", text[at : fence.start()]), fence.group()]
        at = fence.end()
    return "".join([*parts, COMMENT.sub("", text[at:])])


def title_of(markdown: str) -> str:
    """The first heading outside code, without its marks; empty when there is none."""
    found = HEADING.search(FENCE.sub("", markdown))
    return re.sub(r"[*_`]", "", found.group(1)).strip() if found else ""
