"""One case: a batch of rows of one length, again and again for some seconds; its rates and its shares."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.gpu.sizes import Peak, Size

WARM_UP = 3
LEAST = 5


@dataclass(frozen=True)
class Case:
    """rows: texts or pairs in one call; length: tokens of each."""

    model: str
    rows: int
    length: int


@dataclass(frozen=True)
class Result:
    """Seconds of one call, rates per second, and shares of the device's peak (None where it is unknown).

    memory: the weights' bytes, read once a pass, over the time: what a pass with few tokens is bound by.
    """

    case: Case
    p50: float
    p95: float
    rows_per_second: float
    tokens_per_second: float
    compute: float | None
    memory: float | None


def measured(case: Case, call: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each call. `call` returns when the device has finished."""
    for _ in range(WARM_UP):
        call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < LEAST or time.perf_counter() < end:
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return times


def result(case: Case, times: list[float], size: Size, best: Peak | None, budget: int) -> Result:
    p50 = median(times)
    passes = max(1, -(-case.rows * case.length // budget))
    operations = case.rows * size.operations(case.length) / p50
    # bf16: two bytes a weight.
    read = passes * 2 * size.layer_weights / p50
    return Result(
        case,
        p50,
        quantiles(times, n=20)[-1],
        case.rows / p50,
        case.rows * case.length / p50,
        operations / best.operations if best else None,
        read / best.bytes if best else None,
    )


def table(results: list[Result]) -> str:
    """Markdown."""
    head = "| model | rows | tokens each | p50 ms | p95 ms | rows/s | tokens/s | bf16 peak | bandwidth |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|---:|---:|", *map(line, results)]
    return "\n".join(lines)


def line(one: Result) -> str:
    cells = [
        one.case.model,
        str(one.case.rows),
        str(one.case.length),
        f"{one.p50 * 1e3:.2f}",
        f"{one.p95 * 1e3:.2f}",
        f"{one.rows_per_second:,.0f}",
        f"{one.tokens_per_second:,.0f}",
        share(one.compute),
        share(one.memory),
    ]
    return f"| {' | '.join(cells)} |"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
