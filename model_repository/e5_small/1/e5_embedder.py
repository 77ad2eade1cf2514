"""Requests in, one unit vector per span out: what the embedder's contract asks of an encoder.

Three poolings. `chunk` embeds each span on its own. `late` sends the whole text through the encoder and
pools each span from its own tokens, so that it has seen its neighbours. `blend` is half of each. A request
without spans is embedded whole and alike by all three, as queries are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

import numpy as np
from e5_encoder import Encoder, Floats, TokenStates, normalised

# One request must not hold an instance for more than some seconds; a parent is about 8,000 characters.
MAXIMUM_CHARACTERS = 65_536
MAXIMUM_SPANS = 1_024

Span = tuple[int, int]


class Pooling(StrEnum):
    CHUNK = "chunk"
    LATE = "late"
    BLEND = "blend"


class InvalidRequest(ValueError):
    """A request that cannot be embedded. The message names the tensor and the limit, never the text."""


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
    """vectors: [rows, dimension], L2-normalised, one row per span (one for none). tokens: content tokens
    that each row was pooled from, or would have been without the cut. truncated: the window cut a row."""

    vectors: Floats
    tokens: list[int]
    truncated: bool


class Row(NamedTuple):
    vector: Floats
    tokens: int
    truncated: bool


class Embedder:
    def __init__(self, encoder: Encoder, pooling: Pooling) -> None:
        self.encoder = encoder
        self.pooling = pooling

    def embed(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply per request, in order. Requests share forward passes and never influence each other."""
        replies: dict[int, Reply] = {}
        for prefix in sorted({request.prefix for request in requests}):
            numbers = [number for number, request in enumerate(requests) if request.prefix == prefix]
            chosen = [requests[number] for number in numbers]
            replies.update(zip(numbers, self._embed(chosen, prefix), strict=True))
        return [replies[number] for number in range(len(requests))]

    def _embed(self, requests: Sequence[Request], prefix: str) -> Iterator[Reply]:
        pieces = [piece for request in requests for piece in request.pieces]
        late = self._late(requests, prefix)
        wanted = [piece for piece, row in zip(pieces, late, strict=True) if self._needs_alone(row)]
        alone = iter(self._alone(wanted, prefix))
        rows = iter([self._row(row, alone) for row in late])
        return (reply(list(islice(rows, len(request.pieces)))) for request in requests)

    def _needs_alone(self, late: Row | None) -> bool:
        return late is None or self.pooling is Pooling.BLEND

    def _row(self, late: Row | None, alone: Iterator[Row]) -> Row:
        if late is None:
            return next(alone)
        return blended(next(alone), late) if self.pooling is Pooling.BLEND else late

    def _alone(self, pieces: Sequence[str], prefix: str) -> list[Row]:
        return [Row(*values) for values in zip(*self.encoder.embed(pieces, prefix), strict=True)]

    def _late(self, requests: Sequence[Request], prefix: str) -> list[Row | None]:
        """A row per piece; none where there is no span, or where a cut left a span without a token."""
        if self.pooling is Pooling.CHUNK:
            return [None for request in requests for _ in request.pieces]
        texts = [request.text for request in requests if request.spans]
        states = iter(self.encoder.token_states(texts, prefix))
        each = (pooled(next(states), request.spans) if request.spans else [None] for request in requests)
        return [row for rows in each for row in rows]


def pooled(tokens: TokenStates, spans: Sequence[Span]) -> Iterator[Row | None]:
    """Each span's mean over its own tokens: those whose first visible character lies in it, so that spans
    which cover a text share its tokens out, each to one."""
    starts, ends = tokens.offsets.T
    for start, end in spans:
        own = (starts < ends) & (start <= starts) & (starts < end)
        yield Row(normalised(tokens.states[own].mean(axis=0)), int(own.sum()), False) if own.any() else None


def blended(alone: Row, late: Row) -> Row:
    return Row(normalised(alone.vector + late.vector), late.tokens, alone.truncated)


def reply(rows: Sequence[Row]) -> Reply:
    vectors = np.array([row.vector for row in rows], np.float32)
    return Reply(vectors, [row.tokens for row in rows], any(row.truncated for row in rows))
