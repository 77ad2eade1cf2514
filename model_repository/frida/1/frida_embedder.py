"""Requests in, one unit vector per span out, in one of four poolings. Imports no PyTorch.

`cls` embeds each span on its own and reads position 0: the pooling FRIDA was trained with. `late` sends the
whole text through the encoder and takes the mean of each span's own tokens, which have seen its neighbours.
`chunk` is its control: the same mean, of a span encoded on its own. `blend` is alpha of cls and 1 - alpha of
late. A request without spans is embedded whole and as `cls` by all four, as queries are. FRIDA's training
only ever touched position 0, so the other three stand or fall with an evaluation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from token_windows import Floats, Ints

# One request must not hold an instance for more than some seconds; a parent is about 8,000 characters.
MAXIMUM_CHARACTERS = 65_536
MAXIMUM_SPANS = 1_024

Span = tuple[int, int]


class Pooling(StrEnum):
    CLS = "cls"
    CHUNK = "chunk"
    LATE = "late"
    BLEND = "blend"


class InvalidRequest(ValueError):
    """A request that cannot be embedded. The message names the tensor and the limit, never the text."""


class NotFinite(RuntimeError):
    """The model's vector for this request holds NaN or infinity: a fault of the numbers, not of the text."""


@dataclass(frozen=True)
class Request:
    """spans: half-open code-point ranges of `text`; none means the whole text."""

    text: str
    prefix: str
    spans: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidRequest("TEXT is empty")
        if len(self.text) > MAXIMUM_CHARACTERS:
            raise InvalidRequest(f"TEXT is longer than {MAXIMUM_CHARACTERS} characters")
        if len(self.spans) > MAXIMUM_SPANS:
            raise InvalidRequest(f"SPANS has more than {MAXIMUM_SPANS} rows")
        for row, (start, end) in enumerate(self.spans):
            if not 0 <= start < end <= len(self.text):
                raise InvalidRequest(f"SPANS row {row} is not a range of TEXT")
            if not self.text[start:end].strip():
                raise InvalidRequest(f"SPANS row {row} holds only blanks")

    @property
    def pieces(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans] or [self.text]


@dataclass(frozen=True)
class Reply:
    """vectors: [rows, dimension] float32, L2-normalised, one row per span (one for none). tokens: content
    tokens that each row was pooled from, or would have been without the cut. truncated: how many rows the
    window cut."""

    vectors: Floats
    tokens: list[int]
    truncated: int


class Row(NamedTuple):
    vector: Floats
    tokens: int
    truncated: bool


class Vectors(Protocol):
    """What an encoder gives for texts: vectors [texts, dimension], tokens and cuts of each."""

    @property
    def vectors(self) -> Floats: ...
    @property
    def tokens(self) -> list[int]: ...
    @property
    def truncated(self) -> list[bool]: ...


class States(Protocol):
    """What an encoder gives for one text's tokens: states [tokens, dimension], offsets [tokens, 2]."""

    @property
    def states(self) -> Floats: ...
    @property
    def offsets(self) -> Ints: ...


class Encoder(Protocol):
    def embed(self, texts: Sequence[str], prefix: str) -> Vectors: ...
    def token_states(self, texts: Sequence[str], prefix: str) -> Sequence[States]: ...


class Embedder:
    """alpha: the share of cls in a blend, 0 to 1."""

    def __init__(self, encoder: Encoder, pooling: Pooling, alpha: float = 0.5) -> None:
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha is {alpha}, not between 0 and 1")
        self.encoder = encoder
        self.pooling = pooling
        self.alpha = alpha

    def embed(self, requests: Sequence[Request]) -> list[Reply | NotFinite]:
        """One reply per request, in order. Requests share forward passes and never influence each other."""
        replies: dict[int, Reply | NotFinite] = {}
        for prefix in sorted({request.prefix for request in requests}):
            numbers = [number for number, request in enumerate(requests) if request.prefix == prefix]
            rows = self._rows([requests[number] for number in numbers], prefix)
            replies.update(zip(numbers, map(reply, rows), strict=True))
        return [replies[number] for number in range(len(requests))]

    def _rows(self, requests: Sequence[Request], prefix: str) -> list[list[Row]]:
        pooled = [row for rows in self._pooled(requests, prefix) for row in rows]
        pieces = [piece for request in requests for piece in request.pieces]
        wanted = [piece for piece, row in zip(pieces, pooled, strict=True) if self._needs_cls(row)]
        cls = iter(rows_of(self.encoder.embed(wanted, prefix)))
        rows = iter([self._row(row, cls) for row in pooled])
        return [list(islice(rows, len(request.pieces))) for request in requests]

    def _needs_cls(self, pooled: Row | None) -> bool:
        return pooled is None or self.pooling is Pooling.BLEND

    def _row(self, pooled: Row | None, cls: Iterator[Row]) -> Row:
        if pooled is None:
            return next(cls)
        return blended(next(cls), pooled, self.alpha) if self.pooling is Pooling.BLEND else pooled

    def _pooled(self, requests: Sequence[Request], prefix: str) -> list[list[Row | None]]:
        """A row per piece, by means of tokens; none where there is no span, where the pooling is cls, or
        where a cut left a span without a token of its own."""
        spanned = [request for request in requests if request.spans]
        match self.pooling:
            case Pooling.CLS:
                found: Iterator[list[Row | None]] = iter([[None] * len(one.spans) for one in spanned])
            case Pooling.CHUNK:
                found = self._alone(spanned, prefix)
            case Pooling.LATE | Pooling.BLEND:
                states = self.encoder.token_states([one.text for one in spanned], prefix)
                found = (
                    own_means(*each) for each in zip(states, (one.spans for one in spanned), strict=True)
                )
        return [next(found) if request.spans else [None] for request in requests]

    def _alone(self, requests: Sequence[Request], prefix: str) -> Iterator[list[Row | None]]:
        pieces = [piece for request in requests for piece in request.pieces]
        states = self.encoder.token_states(pieces, prefix)
        rows = iter(
            [own_means(*each)[0] for each in zip(states, ([(0, len(p))] for p in pieces), strict=True)]
        )
        return (list(islice(rows, len(request.spans))) for request in requests)


def own_means(tokens: States, spans: Sequence[Span]) -> list[Row | None]:
    """Each span's mean over its own tokens: those whose first visible character lies in it, so that spans
    which cover a text share its tokens out, each to one."""
    starts, ends = tokens.offsets.T
    rows: list[Row | None] = []
    for start, end in spans:
        own = (starts < ends) & (start <= starts) & (starts < end)
        mean = tokens.states[own].mean(axis=0) if own.any() else None
        rows.append(None if mean is None else Row(unit(mean), int(own.sum()), False))
    return rows


def blended(cls: Row, late: Row, alpha: float) -> Row:
    """alpha = 1 is cls and alpha = 0 is late, also in what they say of themselves."""
    if alpha in (0, 1):
        return cls if alpha else late
    return Row(unit(alpha * cls.vector + (1 - alpha) * late.vector), late.tokens, cls.truncated)


def rows_of(found: Vectors) -> list[Row]:
    return [Row(*values) for values in zip(found.vectors, found.tokens, found.truncated, strict=True)]


def reply(rows: Sequence[Row]) -> Reply | NotFinite:
    vectors = np.array([row.vector for row in rows], np.float32)
    if not np.isfinite(vectors).all():
        return NotFinite("the model's vector is not finite")
    return Reply(vectors, [row.tokens for row in rows], sum(row.truncated for row in rows))


def unit(vector: Floats) -> Floats:
    scaled: Floats = (vector / np.maximum(np.linalg.norm(vector), 1e-12)).astype(np.float32)
    return scaled
