"""A closed loop: so many callers, each asking again as soon as it was answered; times, and processes' CPU."""

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

Ask = Callable[[int], Awaitable[object]]
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """What a loop took: seconds of each call, seconds in all, and CPU seconds by process."""

    times: Sequence[float]
    seconds: float
    cpu: Mapping[str, float]

    @property
    def p50(self) -> float:
        """Median, in seconds."""
        return median(self.times)

    @property
    def rate(self) -> float:
        """Calls per second."""
        return len(self.times) / self.seconds

    def cpu_of(self, process: str) -> float:
        """CPU seconds a call of one process."""
        return self.cpu.get(process, 0.0) / len(self.times)

    def figures(self) -> dict[str, object]:
        """Milliseconds, rates and CPU milliseconds a call, as they are kept."""
        quarters = quantiles(self.times, n=4, method="inclusive")
        return {
            "calls": len(self.times),
            "p25_ms": ms(quarters[0]),
            "p50_ms": ms(self.p50),
            "p75_ms": ms(quarters[2]),
            "p95_ms": ms(p95(self.times)),
            "per_second": round(self.rate, 1),
            "cpu_ms_per_call": {name: ms(self.cpu_of(name)) for name in self.cpu},
        }


async def loop(
    ask: Ask, at_once: int, seconds: float, pids: Mapping[str, int] | None = None, least: int = 3
) -> Load:
    """Asks for so long, and by each caller at least so often; `ask` gets a number that never comes twice."""
    watched, numbers, times = pids or {}, itertools.count(), list[float]()
    await asyncio.gather(*(ask(-1 - one) for one in range(at_once)))  # connections and caches are warm
    before, began = spent(watched), time.perf_counter()

    async def caller() -> None:
        own = 0
        while own < least or time.perf_counter() - began < seconds:
            started = time.perf_counter()
            await ask(next(numbers))
            times.append(time.perf_counter() - started)
            own += 1

    await asyncio.gather(*(caller() for _ in range(at_once)))
    took, after = time.perf_counter() - began, spent(watched)
    return Load(times, took, {name: after[name] - before[name] for name in watched})


def spent(pids: Mapping[str, int]) -> dict[str, float]:
    """CPU seconds of each process so far, its threads in it, its children not."""
    return {name: _ticks(pid) / TICKS for name, pid in pids.items()}


def memory(pid: int) -> dict[str, float]:
    """Megabytes: own memory, mapped files that are resident, and the most that ever was resident."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    told = dict(line.split(":", 1) for line in lines)
    fields = {"own_mb": "RssAnon", "mapped_mb": "RssFile", "peak_mb": "VmHWM"}
    return {name: round(int(told[field].split()[0]) / 1000, 1) for name, field in fields.items()}


def p95(times: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(times, n=20, method="inclusive")[-1]


def ms(seconds: float) -> float:
    """Milliseconds, to the microsecond."""
    return round(seconds * 1000, 3)


def _ticks(pid: int) -> int:
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    fields = told.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
