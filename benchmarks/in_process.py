"""The CPU profile's model files called in this process, without Triton: e5_small and its variants, the
reranker.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cli.places import MODEL_REPOSITORY

ENCODER = MODEL_REPOSITORY / "e5_small" / "1"
RERANKER = MODEL_REPOSITORY / "lexical_late_interaction" / "1"

Floats = NDArray[np.float32]


def encoder(weights: Path | None = None, threads: int = 1) -> Any:
    """The encoder of e5_small, with its own weights or a variant's file."""
    made = _module(ENCODER, "e5_encoder")
    loaded = made.Encoder.load(ENCODER, threads)
    if weights:
        loaded.session = made.session(weights, threads)
    return loaded


def embedder(threads: int = 1) -> Callable[[Sequence[str], str], list[Floats]]:
    """What the Triton model does with requests of one text each, whole."""
    loaded = encoder(None, threads)
    module = _module(ENCODER, "e5_embedder")
    model = module.Embedder(loaded, module.Pooling("chunk"))

    def embed(texts: Sequence[str], prefix: str) -> list[Floats]:
        return [one.vectors for one in model.embed([module.Request(text, prefix) for text in texts])]

    return embed


def document_embedder(threads: int = 1) -> Callable[[str, Sequence[Sequence[int]]], Floats]:
    """What the Triton model does with a parent: a vector for each of its spans."""
    module = _module(ENCODER, "e5_embedder")
    model = module.Embedder(encoder(None, threads), module.Pooling("chunk"))

    def embed(text: str, spans: Sequence[Sequence[int]]) -> Floats:
        (reply,) = model.embed([module.Request(text, "passage: ", tuple(map(tuple, spans)))])
        vectors: Floats = reply.vectors
        return vectors

    return embed


def reranker(threads: int = 2) -> Callable[[Sequence[tuple[str, str]]], object]:
    """What the Triton model does with pairs."""
    _module(ENCODER, "e5_encoder")
    loaded = _module(RERANKER, "late_interaction").LateInteraction.load(RERANKER, ENCODER, threads)
    score: Callable[[Sequence[tuple[str, str]]], object] = loaded.score
    return score


def _module(folder: Path, name: str) -> Any:
    """A module of a model's folder, which is no package: models stand on nothing of ours."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return importlib.import_module(name)
