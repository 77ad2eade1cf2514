"""What two looks at /metrics pages say about the time between them. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from radrag.telemetry.reading import Sample

Key: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
Look: TypeAlias = Mapping[Key, float]
Looks: TypeAlias = Mapping[str, Look]
"""What each page showed, by its address."""
INFINITE = float("inf")


@dataclass(frozen=True)
class Figures:
    """Rates are per second, times in seconds; a time is None where nothing was timed."""

    calls: list[dict[str, object]] = field(default_factory=list)
    stages: list[dict[str, object]] = field(default_factory=list)
    models: list[dict[str, object]] = field(default_factory=list)
    trouble: list[dict[str, object]] = field(default_factory=list)


def look(samples: Iterable[Sample]) -> Look:
    """The samples of a page by name and labels."""
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for one in samples}


def figures(before: Looks, after: Looks, seconds: float) -> Figures:
    """What happened between two looks, `seconds` apart; the same series of several pages add up.

    A page that the first look did not see says nothing yet of the time between: what it shows was counted
    since its process started.
    """
    grown = _added(_grown(before[page], one) for page, one in after.items() if page in before)
    now = _added(after.values())
    return Figures(
        _calls(grown, now, seconds),
        _stages(grown, seconds),
        _models(grown, now),
        _trouble(grown, seconds),
    )


def _grown(before: Look, after: Look) -> Look:
    return {key: max(0.0, value - before.get(key, 0.0)) for key, value in after.items()}


def _added(looks: Iterable[Look]) -> Look:
    found: dict[Key, float] = defaultdict(float)
    for one in looks:
        for key, value in one.items():
            found[key] += value
    return found


def quantile(share: float, buckets: Mapping[float, float]) -> float | None:
    """The value below which a share of a histogram's samples lies, as Prometheus reckons it."""
    total = buckets.get(INFINITE, 0.0)
    if not total:
        return None
    wanted, low, below = share * total, 0.0, 0.0
    for bound in sorted(buckets):
        if buckets[bound] >= wanted:
            if bound == INFINITE:
                return low
            return low + (bound - low) * (wanted - below) / ((buckets[bound] - below) or 1.0)
        low, below = bound, buckets[bound]
    return low


def _calls(grown: Look, now: Look, seconds: float) -> list[dict[str, object]]:
    ended = _by("method", grown, "radrag_requests_total")
    failed = _by("method", grown, "radrag_requests_total", lambda labels: labels["code"] != "OK")
    running = _by("method", now, "radrag_requests_in_flight")
    return [
        {
            "method": method.rpartition(".")[2],
            "rate": ended.get(method, 0.0) / seconds,
            "running": int(running.get(method, 0.0)),
            "not_ok": failed.get(method, 0.0) / ended[method] if ended.get(method) else 0.0,
            **_times(grown, "radrag_request_duration_seconds", "method", method),
        }
        for method in sorted(ended.keys() | running.keys())
        if ended.get(method) or running.get(method)
    ]


def _stages(grown: Look, seconds: float) -> list[dict[str, object]]:
    spent = _by("stage", grown, "radrag_stage_duration_seconds_sum")
    often = _by("stage", grown, "radrag_stage_duration_seconds_count")
    bad = _by("stage", grown, "radrag_stage_duration_seconds_count", _failed)
    answering = {stage: time for stage, time in spent.items() if "." not in stage}  # legs lie inside search
    total = sum(answering.values())
    return [
        {
            "stage": stage,
            "rate": often[stage] / seconds,
            "share": spent[stage] / total if total else 0.0,
            "failed": bad.get(stage, 0.0) / often[stage],
            **_times(grown, "radrag_stage_duration_seconds", "stage", stage),
        }
        for stage in sorted(answering, key=lambda stage: -spent[stage])
        if often.get(stage)
    ]


def _failed(labels: Mapping[str, str]) -> bool:
    """Whether stages with these labels failed. One whose caller left was cut short; that is no failure."""
    return labels["outcome"] not in {"ok", "CancelledError"}


def _models(grown: Look, now: Look) -> list[dict[str, object]]:
    waiting = _by("model", now, "nv_inference_pending_request_count")
    rows = _by("model", grown, "nv_inference_count")
    runs = _by("model", grown, "nv_inference_exec_count")
    queued = _by("model", grown, "nv_inference_queue_duration_us")
    done = _by("model", grown, "nv_inference_request_success")
    return [
        {
            "model": model,
            "waiting": int(waiting[model]),
            "batch": rows.get(model, 0.0) / runs[model] if runs.get(model) else None,
            "queue_seconds": queued.get(model, 0.0) / done[model] / 1e6 if done.get(model) else None,
        }
        for model in sorted(waiting)
    ]


def _trouble(grown: Look, seconds: float) -> list[dict[str, object]]:
    named = {
        "refused": ("radrag_rejected_total", "reason"),
        "without": ("radrag_degraded_total", "what"),
        "cut by": ("radrag_truncations_total", "model"),
        "warned": ("radrag_warnings_total", "kind"),
        "audit": ("radrag_audit_records_total", "result"),
    }
    return [
        {"what": f"{word} {value}", "rate": count / seconds, "count": int(count)}
        for word, (name, label) in named.items()
        for value, count in sorted(_by(label, grown, name).items())
        if count and value != "written"
    ]


def _times(grown: Look, name: str, label: str, value: str) -> dict[str, float | None]:
    buckets: dict[float, float] = defaultdict(float)
    for (found, labels), count in grown.items():
        said = dict(labels)
        if found == f"{name}_bucket" and said[label] == value:
            buckets[float(said["le"])] += count
    return {"p50": quantile(0.5, buckets), "p95": quantile(0.95, buckets)}


def _by(
    label: str, seen: Look, name: str, wanted: Callable[[dict[str, str]], bool] = lambda labels: True
) -> dict[str, float]:
    """The samples of a name, added up by one label."""
    found: dict[str, float] = defaultdict(float)
    for (one, labels), value in seen.items():
        if one == name and wanted(dict(labels)):
            found[dict(labels)[label]] += value
    return found
