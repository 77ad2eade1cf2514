"""What reranking costs over the encoder alone, for the path's figures: `make bench`, in this process."""

import importlib
import sys
from collections.abc import Sequence
from statistics import median

from benchmarks.loops import spread
from cli.places import MODEL_REPOSITORY

FIT = MODEL_REPOSITORY / "lexical_late_interaction" / "fit"


def over_encoder(rounds: int = 3) -> dict[str, object]:
    """Reranking 13 parents and encoding what it reads of them, in turn, on one thread; seconds a round."""
    sys.path.append(str(FIT))  # a model's folder is no package
    cost = importlib.import_module("cost")
    encoder, model = cost.Encoder.load(cost.ENCODER), cost.LateInteraction.load(cost.MODEL, cost.ENCODER)
    pairs = [(cost.QUESTION, parent) for parent in cost.texts(encoder, cost.LONG)]
    windows = cost.texts(encoder, cost.READ - 4)
    return figures(
        [(cost.spent(lambda: model.score(pairs)), cost.reading(encoder, windows)) for _ in range(rounds)]
    )


def figures(rounds: Sequence[tuple[float, float]]) -> dict[str, object]:
    """Processor seconds of both, and their ratio, from pairs of (reranked, encoded alone)."""
    reranked, alone = zip(*rounds, strict=True)
    return {
        "rerank_cpu_s": round(median(reranked), 3),
        "encoder_cpu_s": round(median(alone), 3),
        "ratio": spread([rerank / encode for rerank, encode in rounds]),
    }
