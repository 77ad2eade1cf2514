"""How long requests take at a load: a small simulation of queues in a row, each a role with its servers.

A stage has `servers` that each take up to `most` waiting requests at once, as Triton's batcher does, and need
`seconds` for that and `each` more per request. `python -m benchmarks.scaling` makes the plan of
deploy/SCALING.md with it; tests hold it against a real Triton (tests/benchmarks/test_queueing.py).
"""

import heapq
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate


@dataclass(frozen=True)
class Stage:
    """One role. Times in seconds."""

    name: str
    servers: int
    seconds: float
    each: float = 0.0
    most: int = 1

    @property
    def capacity(self) -> float:
        """Requests per second at which every server is always busy with a full batch."""
        return self.servers * self.most / (self.seconds + self.each * self.most)


def arrivals(rate: float, count: int, seed: int) -> list[float]:
    """Times of `count` independent requests at `rate` per second."""
    draw = random.Random(seed)
    return list(accumulate(draw.expovariate(rate) for _ in range(count)))


def through(stage: Stage, times: Sequence[float]) -> list[float]:
    """When each request leaves a stage; first come, first served. `times` in any order."""
    order = sorted(range(len(times)), key=times.__getitem__)
    free, left, at = [0.0] * stage.servers, [0.0] * len(times), 0
    while at < len(order):
        start = max(heapq.heappop(free), times[order[at]])
        batch = [one for one in order[at : at + stage.most] if times[one] <= start]
        end = start + stage.seconds + stage.each * len(batch)
        for one in batch:
            left[one] = end
        at += len(batch)
        heapq.heappush(free, end)
    return left


def latencies(stages: Iterable[Stage], times: Sequence[float]) -> list[float]:
    """Seconds each request spends in all stages."""
    leaving = list(times)
    for stage in stages:
        leaving = through(stage, leaving)
    return [end - start for start, end in zip(times, leaving, strict=True)]


def percentile(values: Iterable[float], share: float) -> float:
    """The value that `share` of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def needed(stages: Sequence[Stage], rate: float, limit: float, busy: float = 0.7) -> list[Stage]:
    """The servers that keep the 95th percentile below `limit` seconds and no stage busier than `busy`.

    Raises ValueError when the limit is below the stages' own time.
    """
    alone = sum(one.seconds + one.each for one in stages)
    if alone > limit:
        raise ValueError(f"limit: the stages alone take {alone:.2f} s")
    grown = [
        replace(one, servers=math.ceil(rate / busy / replace(one, servers=1).capacity)) for one in stages
    ]
    times = arrivals(rate, 4000, 20261201)
    while percentile(latencies(grown, times), 0.95) > limit:
        worst = max(range(len(grown)), key=lambda one: rate / grown[one].capacity)
        grown[worst] = replace(grown[worst], servers=grown[worst].servers + 1)
    return grown
