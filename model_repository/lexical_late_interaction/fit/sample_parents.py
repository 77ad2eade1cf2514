"""The parents of the sample knowledge base, cut as ingest cuts them; DOCX and PDF from the Markdown they
are made of."""

import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))

from ingest.chunk import ChunkLimits, chunk, context_of  # noqa: E402
from ingest.document import Document, Metadata  # noqa: E402
from ingest.load import source_of  # noqa: E402
from ingest.parse import TEXT_PARSERS  # noqa: E402
from ingest.tokens import token_counter  # noqa: E402
from samples.build import entries  # noqa: E402


class Section(NamedTuple):
    """A parent of the sample knowledge base, and what stands in front of it."""

    document: str
    title: str
    path: str
    context: str
    text: str

    @property
    def above(self) -> str:
        return context_of(self.title, self.path, self.context)


def sections(tokenizer: Path) -> list[Section]:
    """The parents of all sample documents. tokenizer: the embedder's."""
    counter, found = token_counter(tokenizer), []
    for entry in entries():
        source = entry.source
        kind = "html" if source.suffix == ".html" else "markdown"
        parsed = TEXT_PARSERS[kind](source_of(source.name, source.read_bytes()))
        name = f"{source.parent.name.replace('_', '-')}-{source.name.split('.')[0]}"
        document = Document(name, parsed.markdown, parsed.title, entry.language, Metadata(), "")
        for parent in chunk(document, counter, ChunkLimits()):
            path = " > ".join(parent.heading_path)
            found.append(Section(name, parsed.title, path, parent.context, parent.text))
    return found
