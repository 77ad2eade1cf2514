"""Proves a conversion against the package's own engine: equal token ids, and all but equal vectors."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from e5_encoder import Encoder, normalised
from numpy.typing import NDArray
from package_engine import PackageEngine
from packed_model import BLOCK, PackedModel
from texts import TEXTS

MINIMUM_TEXTS = 200
# The rounding of 8-bit activations differs between the engines; fp32 arithmetic on the same weights is
# 0.99987 from the package's engine, this graph 0.9999.
MINIMUM_COSINE = 0.9998
# float32 sums of a few hundred terms; one wrong token among 300 moves the mean a hundred times further.
LAYERLESS_TOLERANCE = 1e-5
PREFIXES = {True: "query: ", False: "passage: "}


@dataclass(frozen=True)
class Verdict:
    texts: int
    tokens: int
    differing_ids: int
    differing_counts: int
    minimum_cosine: float
    median_cosine: float

    @property
    def passed(self) -> bool:
        differing = self.differing_ids + self.differing_counts
        return self.texts >= MINIMUM_TEXTS and differing == 0 and self.minimum_cosine >= MINIMUM_COSINE

    def __str__(self) -> str:
        return (
            f"{self.texts} texts, {self.tokens} tokens: {self.differing_ids} texts with other token ids, "
            f"{self.differing_counts} with another token count; cosine to the package's engine "
            f"minimum {self.minimum_cosine:.6f} (at least {MINIMUM_COSINE} needed), "
            f"median {self.median_cosine:.6f}"
        )


def verify(model: PackedModel, package: Path, encoder: Encoder) -> Verdict:
    """Half the texts as queries, half as passages."""
    engine = PackageEngine(package, model.image)
    embeddings = TokenEmbeddings(model)
    layerless = PackageEngine(package, model.without_layers())
    cases = [(text, number % 2 == 0) for number, text in enumerate(TEXTS)]
    ids = [encoder.tokenizer.encode(PREFIXES[query] + text).ids for text, query in cases]
    ours = np.concatenate([encoder.embed([text], PREFIXES[query]).vectors for text, query in cases])
    theirs = np.array([engine.embed(text, query=query) for text, query in cases])
    cosines = (ours * theirs).sum(axis=1)
    pooled = [layerless.embed(text, query=query) for text, query in cases]
    return Verdict(
        texts=len(set(TEXTS)),
        tokens=sum(map(len, ids)),
        differing_ids=sum(embeddings.differ(row, vector) for row, vector in zip(ids, pooled, strict=True)),
        differing_counts=sum(
            engine.token_count(text, query=query) != len(row)
            for (text, query), row in zip(cases, ids, strict=True)
        ),
        minimum_cosine=float(cosines.min()),
        median_cosine=float(np.median(cosines)),
    )


class TokenEmbeddings:
    """What the package's engine computes without its layers: the mean of the normalised token embeddings.

    The engine does not show its token ids, but each embedding holds its token and its position, so only
    equal ids in equal places give an equal mean.
    """

    def __init__(self, model: PackedModel) -> None:
        self.model = model
        self.width = model.header.width
        scales, values = model.blocks("emb.word")
        self.scales = scales.reshape(-1, self.width // BLOCK, 1)
        self.values = values.reshape(-1, self.width // BLOCK, BLOCK)

    def differ(self, ids: list[int], pooled: NDArray[np.float32]) -> bool:
        """Whether the layerless engine, which returned `pooled`, saw other tokens than `ids`."""
        return bool(np.abs(self.mean(ids) - pooled).max() > LAYERLESS_TOLERANCE)

    def mean(self, ids: list[int]) -> NDArray[np.float32]:
        words = (self.values[ids].astype(np.float32) - 8) * self.scales[ids]
        positions = self.model.floats("emb.pos").reshape(-1, self.width)[: len(ids)]
        rows = words.reshape(-1, self.width) + positions + self.model.floats("emb.type")[: self.width]
        centred = rows - rows.mean(axis=1, keepdims=True)
        rows = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + self.model.header.epsilon)
        scaled = rows * self.model.floats("emb.ln.w") + self.model.floats("emb.ln.b")
        return normalised(scaled.mean(axis=0))
