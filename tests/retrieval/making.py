"""Makes what retrieval is given: documents whose passages and vectors follow from their text alone.

A word is a direction of the vector space, so a question's nearest child is the one that shares its words.
"""

import hashlib
import re
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from radrag.retrieval.v1 import retrieval_pb2 as wire
from retrieval.document import Child, Document, Parent
from retrieval.fingerprint import Fingerprint, QueryEmbedder
from retrieval.publication import Batch, Header

DIMENSION = 32
EMBEDDER = QueryEmbedder("words", "ab" * 32, DIMENSION)
FINGERPRINT = Fingerprint(
    EMBEDDER, True, "chunk", "query: ", "passage: ", "cd" * 32, "parent_child", 1800, 512, 900
)
TOPICS = ("safety", "physics", "regulation", "anatomy", "reference_values", "terminology", "templates")
PUBLIC = frozenset({"public"})


def vector(text: str) -> tuple[float, ...]:
    """The normalised sum of one fixed random direction per word."""
    found = re.findall(r"\w+", text.lower()) or ["nothing"]
    whole = np.sum([direction(word) for word in found], axis=0)
    return tuple((whole / np.linalg.norm(whole)).tolist())


@cache
def direction(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION)


@dataclass(frozen=True)
class Made:
    """A header and its passages."""

    header: Header
    parents: Sequence[Parent]
    children: Sequence[Child]

    async def batches(self, of: int = 3) -> AsyncIterator[Batch]:
        """Parents first, then children, in small batches."""
        for at in range(0, len(self.parents), of):
            yield Batch(self.parents[at : at + of], [])
        for at in range(0, len(self.children), of):
            yield Batch([], self.children[at : at + of])

    def messages(self) -> Iterator[wire.IndexDocumentRequest]:
        """The same as messages of the contract."""
        yield wire.IndexDocumentRequest(header=header_message(self.header))
        yield wire.IndexDocumentRequest(
            passages=wire.IndexDocumentRequest.Passages(
                parents=map(parent_message, self.parents), children=map(child_message, self.children)
            )
        )

    def said(self, **metadata: object) -> "Made":
        """The same text with other metadata."""
        document = replace(self.header.document, **metadata)  # type: ignore[arg-type]
        return replace(self, header=replace(self.header, document=document))


def made(document_id: str, *sections: str, topic: str = "safety", **metadata: object) -> Made:
    """A document of one parent per section and one child per sentence."""
    text = "\n\n".join(sections)
    digest = hashlib.sha256(text.encode()).hexdigest()
    document = Document(
        document_id=document_id,
        version=digest[:16],
        title=f"Title of {document_id}",
        source_uri=f"file:///{document_id}.md",
        topic=topic,
        category="methodological",
        tier=2,
        language="en",
        access_labels=("public",),
        valid_from=0,
        valid_to=None,
        text_sha256=digest,
        approved_by="dr.who",
    )
    parents = list(parents_of(document, sections))
    children = [child for parent in parents for child in children_of(document, parent)]
    whole = Made(Header(document, FINGERPRINT, len(parents), len(children)), parents, children)
    return whole.said(**metadata)


def parents_of(document: Document, sections: Sequence[str]) -> Iterator[Parent]:
    start = 0
    for section in sections:
        end = start + len(section)
        yield Parent(
            passage_id(document, "parent", start, end), start, end, section, ("Section",), "", (1, 2)
        )
        start = end + 2


def children_of(document: Document, parent: Parent) -> Iterator[Child]:
    for match in re.finditer(r"[^.]+\.?", parent.text):
        start, end = parent.start + match.start(), parent.start + match.end()
        identity = passage_id(document, "child", start, end)
        yield Child(identity, parent.parent_id, start, end, match[0], "", vector(match[0]))


def passage_id(document: Document, level: str, start: int, end: int) -> str:
    name = f"{document.document_id}/{document.version}/{level}/{start}/{end}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def header_message(header: Header) -> wire.IndexDocumentRequest.Header:
    made_by = header.fingerprint
    return wire.IndexDocumentRequest.Header(
        document=document_message(header.document),
        fingerprint=wire.Fingerprint(
            embedder=embedder_message(made_by.embedder),
            normalized=made_by.normalized,
            pooling=made_by.pooling,
            query_prefix=made_by.query_prefix,
            document_prefix=made_by.document_prefix,
            tokenizer_sha256=made_by.tokenizer_sha256,
            chunking=made_by.chunking,
            max_parent_tokens=made_by.max_parent_tokens,
            max_child_tokens=made_by.max_child_tokens,
            min_child_characters=made_by.min_child_characters,
        ),
        parents=header.parents,
        children=header.children,
        generation=header.generation,
    )


def document_message(document: Document) -> wire.Document:
    fields = {name: getattr(document, name) for name in wire.Document.DESCRIPTOR.fields_by_name}
    return wire.Document(**fields)


def embedder_message(embedder: QueryEmbedder) -> wire.QueryEmbedder:
    return wire.QueryEmbedder(
        name=embedder.name, weights_sha256=embedder.weights_sha256, dimension=embedder.dimension
    )


def parent_message(parent: Parent) -> wire.Parent:
    fields = {name: getattr(parent, name) for name in wire.Parent.DESCRIPTOR.fields_by_name}
    return wire.Parent(**fields)


def child_message(child: Child) -> wire.Child:
    fields = {name: getattr(child, name) for name in wire.Child.DESCRIPTOR.fields_by_name}
    return wire.Child(**fields)
