"""Made-up documents of any number of children, so that a search has something to find and to miss.

Text: sentences drawn from the samples. Vectors: a mixture of clusters of about 50 in 64 dimensions, turned
into the wanted dimension and blurred: neighbours are near, and the next nearest not much farther, as with an
encoder; independent random vectors would all be equally far.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.document import Child, Document, Parent

ROOT = Path(__file__).parents[1]
TOPICS = ("safety", "physics", "regulation", "anatomy", "reference_values", "terminology", "templates")
LANGUAGES = ("en", "ru")
CATEGORIES = ("web", "methodological", "textbook", "article", "regulatory")
# One document in so many carries a label of this name, and is all that a caller with this label alone sees.
SHARES = {"tenth": 10, "hundredth": 100, "thousandth": 1000}
LATENT, CLUSTER = 64, 50
WITHIN, BLUR = 0.7, 0.02  # spread in a cluster, centres having 1; noise of every dimension
ASKED = 0.3  # how far a question lies from the child that it asks for
CHILDREN_OF_PARENT, PARENTS_OF_DOCUMENT = 3, 10
DRAWN_AT_ONCE = 100  # documents; one by one their vectors would be dearer than writing them
SENTENCES_OF_CHILD = 9  # about 1,000 characters, as the chunker makes them
TEXTS = 2500  # that differ, in each language; stemming 100,000 would take longer than all searches

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Made:
    """A document with its passages; vectors stand in the children."""

    document: Document
    parents: Sequence[Parent]
    children: Sequence[Child]


class Space:
    """Where the vectors of one corpus lie. The same seed and size give the same vectors."""

    def __init__(self, children: int, dimension: int, seed: int = 7) -> None:
        latent = min(LATENT, dimension)
        draw = np.random.default_rng(seed)
        self._basis = np.linalg.qr(draw.standard_normal((dimension, latent)))[0].T
        self._centres = draw.standard_normal((max(1, children // CLUSTER), latent))
        self._draw = draw

    def points(self, count: int) -> Vectors:
        """Unit vectors [count, dimension], float32, each of a cluster drawn at random."""
        chosen = self._draw.integers(0, len(self._centres), count)
        spread = WITHIN * self._draw.standard_normal((count, self._centres.shape[1]))
        whole = (self._centres[chosen] + spread) @ self._basis
        return _unit(whole + BLUR * self._draw.standard_normal(whole.shape))

    def near(self, points: Vectors) -> Vectors:
        """A question for each point: a unit vector at about the distance of its cluster's others."""
        away = self._draw.standard_normal((len(points), len(self._basis))) @ self._basis
        return _unit(points + ASKED * _unit(away))


def documents(children: int, dimension: int, seed: int = 7) -> Iterator[Made]:
    """Documents of together `children` children, topics and languages in turn."""
    space, said = Space(children, dimension, seed), Texts(seed)
    each, number = CHILDREN_OF_PARENT * PARENTS_OF_DOCUMENT, count()
    for drawn in range(0, children, each * DRAWN_AT_ONCE):
        points = space.points(min(each * DRAWN_AT_ONCE, children - drawn))
        for first in range(0, len(points), each):
            yield made(next(number), points[first : first + each], said)


def made(number: int, vectors: Vectors, said: "Texts") -> Made:
    """One document of a child per vector."""
    language = LANGUAGES[number // len(TOPICS) % len(LANGUAGES)]
    texts = [said.child(language) for _ in vectors]
    document = _document(number, language, "\n\n".join(texts))
    parents, children, start = list[Parent](), list[Child](), 0
    for first in range(0, len(texts), CHILDREN_OF_PARENT):
        some = texts[first : first + CHILDREN_OF_PARENT]
        parent = _parent(document, "\n\n".join(some), start)
        parents.append(parent)
        children += _children(document, parent, some, vectors[first:])
        start = parent.end + 2
    return Made(document, parents, children)


class Texts:
    """Texts of children by language: sentences of the samples, drawn and joined."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed)
        self._made = {language: self._some(list(_sentences(language))) for language in LANGUAGES}

    def child(self, language: str) -> str:
        """One of them."""
        return self._made[language][int(self._draw.integers(0, TEXTS))]

    def _some(self, said: Sequence[str]) -> list[str]:
        drawn = self._draw.integers(0, len(said), (TEXTS, SENTENCES_OF_CHILD))
        return [" ".join(said[place] for place in row) for row in drawn]


def questions(language: str, count: int) -> list[str]:
    """Questions that differ: a sentence of the samples and a number each, so that no cache answers them."""
    asked = {"en": "What is said about this, case {}: {}?", "ru": "Что об этом сказано, случай {}: {}?"}
    said = [one for one in _sentences(language) if len(one) < 120]
    return [asked[language].format(number, said[number % len(said)].rstrip(".")) for number in range(count)]


def _sentences(language: str) -> Iterator[str]:
    for path in sorted((ROOT / "samples" / "documents").rglob("*.md")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1].isalpha()]
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(lines)):
            cyrillic = len(re.findall(r"[а-яё]", sentence, re.IGNORECASE)) > len(sentence) // 2
            if 40 < len(sentence) < 300 and cyrillic == (language == "ru"):
                yield sentence


def _labels(number: int) -> tuple[str, ...]:
    """A label for each share that the document belongs to."""
    return tuple(label for label, share in SHARES.items() if number % share == 0)


def _document(number: int, language: str, text: str) -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = f"made-{number}"
    return Document(
        document_id=name,
        version=digest[:16],
        title=f"Made-up document {number}",
        source_uri=f"made:{name}",
        topic=TOPICS[number % len(TOPICS)],
        category=CATEGORIES[number % len(CATEGORIES)],
        tier=1 + number % 4,
        language=language,
        access_labels=("public", *_labels(number)),
        valid_from=0,
        valid_to=None,
        text_sha256=digest,
        approved_by="benchmark",
    )


def _parent(document: Document, text: str, start: int) -> Parent:
    end = start + len(text)
    return Parent(_id(document, "parent", start), start, end, text, ("Made up",), "", (1,))


def _children(document: Document, parent: Parent, texts: Sequence[str], vectors: Vectors) -> Iterator[Child]:
    start = parent.start
    for text, vector in zip(texts, vectors, strict=False):
        name = _id(document, "child", start)
        yield Child(name, parent.parent_id, start, start + len(text), text, "", vector.tolist())
        start += len(text) + 2


def _id(document: Document, level: str, start: int) -> str:
    place = f"{document.document_id}/{level}/{start}".encode()
    return str(uuid.UUID(bytes=hashlib.blake2b(place, digest_size=16).digest()))


def _unit(rows: NDArray[np.float64] | Vectors) -> Vectors:
    whole: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return whole
