"""When evidence is enough, by model: calibrated points from a file. An unknown model fails closed."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Degraded:
    """The second threshold, for a ranking without reranker: question-term coverage 0..1 and cosine -1..1."""

    coverage: float
    cosine: float


@dataclass(frozen=True)
class Thresholds:
    """`rerank`: the least score that counts as evidence, by reranker. `degraded`: by embedder."""

    calibrated: bool = False
    rerank: dict[str, float] = field(default_factory=dict)
    degraded: dict[str, Degraded] = field(default_factory=dict)
    data_sha256: dict[str, str] = field(default_factory=dict)


def load(path: Path) -> Thresholds:
    """Reads the file. Raises ValueError where a point is outside of its range."""
    given = json.loads(path.read_text(encoding="utf-8"))
    rerank = {name: float(point["score"]) for name, point in given.get("rerank", {}).items()}
    degraded = {
        name: Degraded(float(point["coverage"]), float(point["cosine"]))
        for name, point in given.get("degraded", {}).items()
    }
    points = {**given.get("rerank", {}), **given.get("degraded", {})}
    _check(path.name, [*rerank.values(), *(point.coverage for point in degraded.values())])
    hashes = {name: str(point.get("data_sha256", "")) for name, point in points.items()}
    return Thresholds(bool(given.get("calibrated")), rerank, degraded, hashes)


def _check(name: str, values: list[float]) -> None:
    if not all(0 < value <= 1 for value in values):
        raise ValueError(f"{name}: every score and coverage must be above 0 and at most 1")
