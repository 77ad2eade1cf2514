"""What is promised of a service under load, and what of a run's figures does not keep it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.asker import DROPPED, REFUSED
from benchmarks.queueing import percentile

Figures = Mapping[str, Any]


def at_limit(seen: Figures, seconds: float) -> dict[str, Any]:
    """Answers per second and their p95 while every place is taken and nobody is refused."""
    return {
        "rate": round(len(seen["answered"]) / seconds, 2),
        "p50": round(percentile(seen["answered"], 0.5), 4),
        "p95": round(percentile(seen["answered"], 0.95), 4),
        "codes": seen["codes"],
        "degraded": seen["degraded"],
    }


def excess(seen: Figures, limit: Figures, growth: Mapping[str, float]) -> dict[str, Any]:
    """The admitted, those who were not, and the health checks of one run above the limit.

    Not admitted are the refused, by admission, and the dropped, by gRPC before it: each apart, and both.
    Raises ValueError when the run was too short to fill the line.
    """
    kept_out = [*seen["refused"], *seen["dropped"]]
    if not kept_out or not seen["answered"]:
        raise ValueError(f"seconds: too few, the calls ended {dict(seen['codes'])}")
    p95, late = percentile(seen["answered"], 0.95), percentile(kept_out, 0.99)
    healthy = percentile(seen["health"], 0.99)
    calls = sum(seen["codes"].values())
    return {
        "offered_rate": round(calls / seen["offered_seconds"], 2),
        "answered": len(seen["answered"]),
        **{name: len(seen[name]) for name in ("refused", "dropped")},
        **{f"{name}_p99": _p99(seen[name]) for name in ("refused", "dropped")},
        "admitted_p95": round(p95, 4),
        "admitted_p95_ratio": round(p95 / limit["p95"], 3),
        "not_admitted_p50": round(percentile(kept_out, 0.5), 4),
        "not_admitted_p99": round(late, 4),
        "health_p99": round(healthy, 4),
        "not_admitted_p99_ratio": round(late / healthy, 3),
        "codes": seen["codes"],
        "degraded": seen["degraded"],
        "memory_growth": {name: round(share, 4) for name, share in growth.items()},
    }


def _p99(latencies: Sequence[float]) -> float | None:
    return round(percentile(latencies, 0.99), 4) if latencies else None


def not_admitted(excess: Figures) -> str:
    """Who was not admitted above the limit, and why."""
    return (
        f"not admitted: {excess['refused']} refused by admission ({REFUSED}), "
        f"{excess['dropped']} dropped by gRPC before it ({DROPPED})"
    )


def only(codes: Mapping[str, int], *wanted: str) -> bool:
    """Whether all calls ended in one of these ways."""
    return set(codes) <= set(wanted)


def small(values: Mapping[str, float], most: float) -> bool:
    """Whether no value exceeds `most`."""
    return all(value <= most for value in values.values())


FLAT = 0.05  # share by which memory may seem to grow
PROMISES: Mapping[str, tuple[str, Callable[[Figures], bool]]] = {
    "nobody is refused at the limit": ("flood", lambda one: only(one["limit"]["codes"], "OK")),
    "four times the sustainable rate was offered": (
        "flood",
        lambda one: one["excess"]["offered_rate"] >= 3.9 * one["limit"]["rate"],
    ),
    "p95 of the admitted at most 1.5 times that at the limit": (
        "flood",
        lambda one: one["excess"]["admitted_p95_ratio"] <= 1.5,
    ),
    "p99 of those not admitted at most 5 times a health check's": (
        "flood",
        lambda one: one["excess"]["not_admitted_p99_ratio"] <= 5,
    ),
    "above the limit calls are answered or not admitted, nothing else": (
        "flood",
        lambda one: only(one["excess"]["codes"], "OK", REFUSED, DROPPED),
    ),
    "no admitted answer lacks a part": ("flood", lambda one: not one["excess"]["degraded"]),
    "memory is flat under the flood": ("flood", lambda one: small(one["excess"]["memory_growth"], FLAT)),
    "after the flood everything is as before": (
        "flood",
        lambda one: one["serving_after"] and one["after"]["p95_ratio"] <= 1.25,
    ),
    "all streams are held open": (
        "held",
        lambda one: one["running"] == one["alive"] == one["streams"] and not one["codes"],
    ),
    "who leaves is not refused": (
        "left",
        lambda one: all(only(codes, "left") for codes in one["codes"].values()),
    ),
    "who leaves leaves no memory": ("left", lambda one: small(one["memory_growth"], FLAT)),
    "who leaves leaves no open files": ("left", lambda one: small(one["files_left"], 8)),
    "who leaves leaves no tasks": ("left", lambda one: small(one["tasks_left"], 4)),
    "who leaves leaves no work at the model server": ("left", lambda one: one["generator_running"] == 0),
}


def broken(figures: Figures) -> list[str]:
    """The promises that the figures do not keep, of the parts that were measured."""
    return [
        f"NOT KEPT: {name}"
        for name, (part, kept) in PROMISES.items()
        if part in figures and not kept(figures[part])
    ]
