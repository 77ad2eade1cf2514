"""The rows of the path's benchmark: what rounds of a loop took, what they are beside the limits of the same
round, and how long the stages of its replies were.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.loops import Hear, Load, ms, p95, spread

OURS = ("search", "prompt", "generate", "first token", "least search", "least prompt")
PROCESS = {"prompt": "gateway", "least prompt": "least"}
STAGED = ("search", "prompt", "generate")
# What a row keeps and its printed line leaves out; `caller` is the benchmark itself.
UNSAID = ("triton", "caller")
Loads = dict[tuple[str, int], list[Load]]
Heard = dict[str, dict[str, list[float]]]


def rows(loads: Loads) -> dict[str, dict[str, object]]:
    """Every row, by the call and how many ask at once."""
    return {f"{name} @{at_once}": row(loads, name, at_once) for name, at_once in loads}


def row(loads: Loads, name: str, at_once: int) -> dict[str, object]:
    """One row's figures over its rounds, and for a call of ours its ratios to the limits."""
    rounds = loads[name, at_once]
    whole = Load([time for one in rounds for time in one.times], sum(one.seconds for one in rounds),
                 {key: sum(one.cpu[key] for one in rounds) for key in rounds[0].cpu})  # fmt: skip
    figures = whole.figures()
    if name in OURS:
        figures |= _beside_limits(loads, name, at_once)
    if process := PROCESS.get(name):
        bare = loads["bare prompt", at_once]
        figures["rate_to_bare"] = _rates(rounds, bare)
        figures["cpu_to_bare"] = spread(
            [one.cpu_of(process) / limit.cpu_of("path") for one, limit in zip(rounds, bare, strict=True)]
        )
        if plain := loads.get(("fastapi prompt", at_once)):
            figures["rate_to_fastapi"] = _rates(rounds, plain)
    return figures


def _beside_limits(loads: Loads, name: str, at_once: int) -> dict[str, object]:
    rounds, direct = loads[name, at_once], loads["direct", at_once]
    hops, store = loads["two hops", at_once], loads["store, direct", at_once]
    front = "least" if name.startswith("least") else "gateway"
    return {
        "over_direct": spread([one.p50 / limit.p50 for one, limit in zip(rounds, direct, strict=True)]),
        "hops_beyond_direct": spread(
            [(one.p50 - limit.p50) / two.p50 for one, limit, two in zip(rounds, direct, hops, strict=True)]
        ),
        "ours_share": spread([_share(one, legs, front) for one, legs in zip(rounds, store, strict=True)]),
    }


def _share(one: Load, legs: Load, front: str) -> float:
    """Of a call's CPU, how much is neither Triton's nor what its legs cost when they are called straight."""
    own = one.cpu_of(front) + one.cpu_of("retrieval")
    return (own - legs.cpu_of("caller")) / (own + one.cpu_of("triton"))


def _rates(rounds: Sequence[Load], others: Sequence[Load]) -> dict[str, float]:
    return spread([one.rate / other.rate for one, other in zip(rounds, others, strict=True)])


def said(name: str, at_once: int, rounds: Sequence[Load]) -> str:
    """One row as a line."""
    p50 = median(one.p50 for one in rounds)
    rate = median(one.rate for one in rounds)
    shown = [key for key in rounds[0].cpu if key not in UNSAID]
    cpu = " ".join(f"{key} {ms(median(one.cpu_of(key) for one in rounds))}" for key in shown)
    return f"{name:18} @{at_once:<3} p50 {ms(p50):9.3f} ms  {rate:8.1f}/s  CPU ms: {cpu}"


def hearing(heard: Heard, name: str, at_once: int) -> Hear | None:
    """What notes the stages of a row's replies; None where they are none of ours."""
    if name not in STAGED:
        return None
    found = heard.setdefault(f"{name} @{at_once}", {})

    def hear(reply: Any) -> None:
        for stage in reply.stages:
            found.setdefault(stage.name, []).append(stage.duration.ToNanoseconds() / 1e9)

    return hear


def stages(heard: Heard) -> dict[str, dict[str, dict[str, float]]]:
    """Milliseconds by row and stage."""
    return {
        row: {stage: _milliseconds(times) for stage, times in found.items()} for row, found in heard.items()
    }


def _milliseconds(times: Sequence[float]) -> dict[str, float]:
    figures = {"median": median(times), "p95": p95(times), "least": min(times), "most": max(times)}
    return {name: ms(value) for name, value in figures.items()}
