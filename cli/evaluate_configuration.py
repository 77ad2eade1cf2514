"""What a configuration may set: options of `radrag eval retrieval`, and settings that such a run obeys."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluation import ablation

OPTIONS = (
    "chunking", "pooling", "overlap", "fusion", "depth", "contexts", "words", "split_topics", "no_reranker",
)  # fmt: skip
# A setting that changes nothing here would pass for one that makes no difference.
SETTINGS = (
    "embedder_model", "embedder_tokenizer", "reranker_model", "topics", "children_per_topic", "children",
    "candidates", "fusion", "rrf_k", "dense_weight", "bm25_weight", "bm25_k1", "bm25_b", "bm25_avg_len",
    "max_parent_tokens", "max_child_tokens", "min_child_characters", "noise_threshold", "chunking",
)  # fmt: skip
KNOWN = frozenset((*OPTIONS, *SETTINGS))
FLAG, MEASURE = "--config", "--measure"


def words(values: Mapping[str, object]) -> list[str]:
    """The options among these values, as they are written on the command line."""
    found = []
    for name, value in values.items():
        if name in OPTIONS and value is not False and value != "":  # 0 is a value: no overlap
            flag = f"--{name.replace('_', '-')}"
            found.append(flag if value is True else f"{flag}={value}")
    return found


def environment(values: Mapping[str, object]) -> dict[str, str]:
    """The settings among these values, as environment variables."""
    return {f"RADRAG_{k.upper()}": _text(v) for k, v in values.items() if k not in OPTIONS}


def configured(path: Path, given: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """What a file adds: words that stand before the given ones, which win, and settings. DatasetError."""
    measures, values = ablation.configuration(path, KNOWN)
    asked = [] if any(word.startswith(MEASURE) for word in given) else measures
    return [*words(values), *(f"{MEASURE}={name}" for name in asked)], environment(values)


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
