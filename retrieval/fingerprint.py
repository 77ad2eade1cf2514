"""What made the vectors and chunks of a generation, and whether somebody else's is the same."""

from dataclasses import asdict, dataclass

from radrag.errors import FailedPrecondition


@dataclass(frozen=True)
class QueryEmbedder:
    """The part a question's vector depends on."""

    name: str
    weights_sha256: str
    dimension: int


@dataclass(frozen=True)
class Fingerprint:
    """What made the vectors and the chunks; the fields of the contract."""

    embedder: QueryEmbedder
    normalized: bool
    pooling: str
    query_prefix: str
    document_prefix: str
    tokenizer_sha256: str
    chunking: str
    max_parent_tokens: int
    max_child_tokens: int
    min_child_characters: int


def check(given: QueryEmbedder | Fingerprint, index: QueryEmbedder | Fingerprint) -> None:
    """Raises FailedPrecondition naming every field that differs, with both values."""
    mine, theirs = _flat(given), _flat(index)
    differing = [
        f"{name} is {mine[name]!r}, the index has {theirs[name]!r}"
        for name in mine
        if mine[name] != theirs[name]
    ]
    if differing:
        raise FailedPrecondition("fingerprint: " + "; ".join(differing), "FINGERPRINT_MISMATCH")


def check_bm25(own: str, index: str) -> None:
    """Raises FailedPrecondition when this process would cut and weigh words otherwise than the index."""
    if own != index:
        raise FailedPrecondition(
            f"bm25_sha256 is {own!r} in this process, the index has {index!r}", "FINGERPRINT_MISMATCH"
        )


def _flat(value: QueryEmbedder | Fingerprint) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, part in asdict(value).items():
        if isinstance(part, dict):
            flat.update({f"{name}.{inner}": item for inner, item in part.items()})
        else:
            flat["embedder." * isinstance(value, QueryEmbedder) + name] = part
    return flat
