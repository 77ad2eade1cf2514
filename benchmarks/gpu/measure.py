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
    """rows: texts or pairs in one call; length: tokens of each; written: tokens that each answer then gets.

    through: `files` where the model's files are called, `triton` where the server is."""

    model: str
    rows: int
    length: int
    written: int = 0
    through: str = "files"

    @property
    def tokens(self) -> int:
        """What tokens per second count: those that are written, where that is more than reading takes."""
        return self.rows * (self.written if self.written > 1 else self.length)


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
    utilisation: float | None = None


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


def result(
    case: Case, times: list[float], size: Size, best: Peak | None, budget: int, *, busy: float | None = None
) -> Result:
    """busy: the share of the time in which the device did anything, where somebody measures it."""
    p50 = median(times)
    passes = max(1, -(-case.rows * case.length // budget))
    steps = max(0, case.written - 1)
    operations = case.rows * (size.operations(case.length) + steps * size.step(case.length)) / p50
    # bf16: two bytes a weight. The prompts are read in passes, then every written token is a pass of its own.
    weights = passes * size.read_weights(case.rows * case.length // passes) + steps * size.read_weights(
        case.rows
    )
    read = 2 * weights / p50
    return Result(
        case,
        p50,
        quantiles(times, n=20)[-1],
        case.rows / p50,
        case.tokens / p50,
        operations / best.operations if best else None,
        read / best.bytes if best else None,
        busy,
    )


def table(results: list[Result]) -> str:
    """Markdown."""
    head = (
        "| model | through | rows | tokens each | written | p50 ms | p95 ms | rows/s | tokens/s | bf16 peak"
        " | bandwidth | busy |"
    )
    lines = [head, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|", *map(line, results)]
    return "\n".join(lines)


def line(one: Result) -> str:
    cells = [
        one.case.model,
        one.case.through,
        str(one.case.rows),
        str(one.case.length),
        str(one.case.written or "–"),
        f"{one.p50 * 1e3:.2f}",
        f"{one.p95 * 1e3:.2f}",
        f"{one.rows_per_second:,.0f}",
        f"{one.tokens_per_second:,.0f}",
        share(one.compute),
        share(one.memory),
        share(one.utilisation),
    ]
    return f"| {' | '.join(cells)} |"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
