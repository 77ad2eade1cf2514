"""What differs between two replies to one question, stage by stage. Pure; replies as `cli.plain` has them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

Plain: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class Difference:
    """One thing that is not what it was; `stage` is the earliest that can have changed it."""

    stage: str
    what: str
    was: str
    now: str


def manifests(was: Plain, now: Plain) -> list[Difference]:
    """What two manifests differ in, in the answer path's order. What one of them leaves out is not told."""
    pairs = [
        ("settings", "settings", _short(was, "settings_sha256"), _short(now, "settings_sha256")),
        ("embed", "embedder", _model(was, "embedder"), _model(now, "embedder")),
        ("search", "index generation", _text(was, "index_generation"), _text(now, "index_generation")),
        ("search", "index revision", _text(was, "index_revision"), _text(now, "index_revision")),
        ("search", "in force on", _text(was, "as_of"), _text(now, "as_of")),
        ("search", "document versions", _listed(was), _listed(now)),
        ("rerank", "reranker", _model(was, "reranker"), _model(now, "reranker")),
        ("prompt", "prompt", _short(was, "prompt_sha256"), _short(now, "prompt_sha256")),
        ("generate", "generator", _model(was, "generator"), _model(now, "generator")),
    ]
    return [Difference(*pair) for pair in pairs if pair[2] and pair[3] and pair[2] != pair[3]]


def replies(was: Plain, now: Plain) -> list[Difference]:
    """What two replies differ in: their manifests, sources, text, citations, warnings and outcome."""
    found = manifests(_map(was["manifest"]), _map(now["manifest"]))
    places = {stage: index for index, stage in enumerate(_STAGES)}
    found += [Difference(*one) for one in _facts(was, now) if one[2] != one[3]]
    return sorted(found, key=lambda one: places[one.stage])


_STAGES = ("settings", "scope", "embed", "search", "rerank", "prompt", "generate", "verify", "outcome")


def _facts(was: Plain, now: Plain) -> Iterator[tuple[str, str, str, str]]:
    one, two = _sources(was), _sources(now)
    yield "search", "sources", _lines(sorted(one)), _lines(sorted(two))
    if sorted(one) == sorted(two):
        yield "rerank", "order of sources", _lines(one), _lines(two)
    yield "rerank", "best rerank score", _best(was), _best(now)
    yield "generate", "text", _text(was, "text"), _text(now, "text")
    yield "verify", "citations", _citations(was), _citations(now)
    yield "verify", "warnings", _warnings(was), _warnings(now)
    yield "outcome", "outcome", _outcome(was), _outcome(now)


def _sources(reply: Plain) -> list[str]:
    return [
        f"{document['document_id']}@{document['version']} [{parent['start']}, {parent['end']})"
        for parent in _maps(reply["ranked_parents"])
        for document in [_map(parent["document"])]
    ]


def _best(reply: Plain) -> str:
    scores = [_map(parent["scores"])["rerank"] for parent in _maps(reply["ranked_parents"])]
    return next((f"{score:.4f}" for score in scores if isinstance(score, float)), "none")


def _citations(reply: Plain) -> str:
    return _lines(
        [
            f"[{one['marker']}] {one['document_id']}@{one['document_version']} [{one['start']}, {one['end']})"
            + ("" if one["verified"] else " not verified")
            for one in _maps(reply["citations"])
        ]
    )


def _warnings(reply: Plain) -> str:
    return _lines([f"{one['kind']} {one['detail']}".strip() for one in _maps(reply["warnings"])])


def _outcome(reply: Plain) -> str:
    return f"{_text(reply, 'outcome')} ({_text(reply, 'reason')})"


def _model(manifest: Plain, role: str) -> str:
    models = [one for one in _maps(manifest.get("models") or ()) if one["role"] == role]
    return "".join(f"{one['name']} {str(one['weights_sha256'])[:12]}".strip() for one in models)


def _listed(manifest: Plain) -> str:
    return _lines(sorted(map(str, cast("Sequence[object]", manifest.get("document_versions") or ()))))


def _short(manifest: Plain, name: str) -> str:
    return str(manifest.get(name) or "")[:12]


def _text(values: Plain, name: str) -> str:
    return str(values.get(name) or "")


def _lines(parts: Sequence[str]) -> str:
    return "; ".join(parts) or "none"


def _map(value: object) -> Plain:
    return cast("Plain", value)


def _maps(value: object) -> Sequence[Plain]:
    return cast("Sequence[Plain]", value)
