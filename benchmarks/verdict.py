"""What is promised of a service under load, and what of a run's figures does not keep it."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.asker import REFUSED
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
    """The admitted, the refused and the health checks of one run above the limit.

    Raises ValueError when it was too short to fill the line.
    """
    if not seen["refused"] or not seen["answered"]:
        raise ValueError(f"seconds: too few, the calls ended {dict(seen['codes'])}")
    p95, refused = percentile(seen["answered"], 0.95), percentile(seen["refused"], 0.99)
    healthy = percentile(seen["health"], 0.99)
    calls = sum(seen["codes"].values())
    return {
        "offered_rate": round(calls / seen["offered_seconds"], 2),
        "answered": len(seen["answered"]),
        "refused": len(seen["refused"]),
        "admitted_p95": round(p95, 4),
        "admitted_p95_ratio": round(p95 / limit["p95"], 3),
        "refusal_p50": round(percentile(seen["refused"], 0.5), 4),
        "refusal_p99": round(refused, 4),
        "health_p99": round(healthy, 4),
        "refusal_p99_ratio": round(refused / healthy, 3),
        "codes": seen["codes"],
        "degraded": seen["degraded"],
        "memory_growth": {name: round(share, 4) for name, share in growth.items()},
    }


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
    "p99 of refusals at most 5 times a health check's": (
        "flood",
        lambda one: one["excess"]["refusal_p99_ratio"] <= 5,
    ),
    "above the limit calls are answered or refused, nothing else": (
        "flood",
        lambda one: only(one["excess"]["codes"], "OK", *REFUSED),
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
