"""Writes what stands inside a line: text, code, powers and indices. Emphasis and links leave only their text.

Emphasis would have to be guessed again whenever a sentence is quoted word for word.
"""

import re

from bs4.element import CData, NavigableString, PageElement, PreformattedString, Tag

from ingest.raised import SUBSCRIPTS, SUPERSCRIPTS, shifted

CODE = {"code", "kbd", "samp", "tt"}


def inline_of(node: PageElement) -> str:
    """The text of a node that holds no blocks; a line break is a newline, other white space one blank."""
    if isinstance(node, PreformattedString) and not isinstance(node, CData):
        return ""  # a doctype, a comment, an instruction to some program
    if isinstance(node, NavigableString):
        return re.sub(r"\s+", " ", str(node))
    if not isinstance(node, Tag):
        return ""
    if node.name == "br":
        return "\n"
    return dressed(node.name, "".join(inline_of(child) for child in node.children))


def dressed(name: str, text: str) -> str:
    if name == "sup":
        return shifted(text, SUPERSCRIPTS, "^")
    if name == "sub":
        return shifted(text, SUBSCRIPTS, "")
    if name in CODE and text.strip() and "`" not in text and "\n" not in text:
        return f"`{text.strip()}`"
    return text


def line_of(node: PageElement) -> str:
    """A node's text on one line."""
    return re.sub(r"\s+", " ", inline_of(node)).strip(" ¶#")


def paragraph(text: str) -> str:
    """Collected inline text as a paragraph: single blanks, its own line breaks, no empty lines."""
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n")]
    joined = "\n".join(line for line in lines if line)
    return re.sub(r"(?m)^(#{1,6} |>)", r"\\\1", joined)
