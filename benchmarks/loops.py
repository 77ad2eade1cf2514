"""A closed loop: so many callers, each asking again as soon as it was answered; times, and processes' CPU."""

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

Ask = Callable[[int], Awaitable[object]]
Hear = Callable[[Any], None]
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
    ask: Ask, at_once: int, seconds: float, pids: Mapping[str, int] | None = None, least: int = 3,
    *, hear: Hear | None = None,
) -> Load:  # fmt: skip
    """Asks for so long, and by each caller at least so often; `ask` gets a number that never comes twice.

    `hear` gets each reply whose time counts, once that time is taken.
    """
    watched, numbers, times = pids or {}, itertools.count(), list[float]()
    await asyncio.gather(*(ask(-1 - one) for one in range(at_once)))  # connections and caches are warm
    before, began = spent(watched), time.perf_counter()

    async def caller() -> None:
        own = 0
        while own < least or time.perf_counter() - began < seconds:
            started = time.perf_counter()
            reply = await ask(next(numbers))
            times.append(time.perf_counter() - started)
            if hear:
                hear(reply)
            own += 1

    await asyncio.gather(*(caller() for _ in range(at_once)))
    took, after = time.perf_counter() - began, spent(watched)
    return Load(times, took, {name: after[name] - before[name] for name in watched})


def spent(pids: Mapping[str, int]) -> dict[str, float]:
    """CPU seconds of each process so far, its threads in it, its children not.

    A negative pid is that of a group's leader, as for kill(2), and all of the group counts.
    """
    return {name: _ticks(pid) / TICKS if pid > 0 else group_spent(-pid) for name, pid in pids.items()}


def group_spent(leader: int) -> float:
    """CPU seconds of a group's processes so far, over all their threads, to the nanosecond."""
    return sum(map(_running, _group(leader)))


def memory(pid: int) -> dict[str, float]:
    """Megabytes: own memory, mapped files that are resident, and the most that ever was resident."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    told = dict(line.split(":", 1) for line in lines)
    fields = {"own_mb": "RssAnon", "mapped_mb": "RssFile", "peak_mb": "VmHWM"}
    return {name: round(int(told[field].split()[0]) / 1000, 1) for name, field in fields.items()}


def p95(times: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, least and most of some rounds' ratios, as they are kept."""
    return {"median": round(median(values), 3), "least": round(min(values), 3), "most": round(max(values), 3)}


def ms(seconds: float) -> float:
    """Milliseconds, to the microsecond."""
    return round(seconds * 1000, 3)


def _ticks(pid: int) -> int:
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    fields = told.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _running(pid: int) -> float:
    total = 0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(thread.read_text().split()[0])
        except OSError:  # it has just ended
            continue
    return total / 1e9


def _group(leader: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[2]) == leader:
                yield int(stat.parent.name)
        except OSError:
            continue
