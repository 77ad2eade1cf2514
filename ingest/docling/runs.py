"""Text out of Docling's items: glyphs of symbol fonts removed, runs of one paragraph joined, on one line."""

import re

from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.node import NodeItem
from docling_core.types.doc.items.text import TextItem

# What symbol fonts leave behind: private letters, replacement characters, names of glyphs.
GLYPHS = re.compile("[\ue000-\uf8ff\ufffd]|GLYPH<[^<>]*>")
SPACED = re.compile(r"\s+([,.;:!?)\]»%])(?=\s|$)")


def line_text(text: str) -> str:
    """The text on one line."""
    return re.sub(r"\s+", " ", GLYPHS.sub("", text)).strip()


def run_text(node: NodeItem, document: DoclingDocument) -> str:
    """The runs below a node as one line: a word processor parts a paragraph wherever its style changes."""
    runs = [reference.resolve(document) for reference in node.children]
    texts = [run.text if isinstance(run, TextItem) else run_text(run, document) for run in runs]
    return SPACED.sub(r"\1", line_text(" ".join(text for text in texts if text.strip())))
