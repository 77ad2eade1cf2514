"""What share of the throughput measuring costs, from pairs of runs, and whether that is too much."""

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

AIM = 0.03  # the most of an answer's CPU time that watching it may take
CHANCE = random.Random(20261201)


@dataclass(frozen=True)
class Run:
    """One run: answers per second, and CPU milliseconds per answer by process."""

    answers_per_second: float
    cpu: Mapping[str, float]

    @property
    def cpu_per_answer(self) -> float:
        """Of all processes together."""
        return sum(self.cpu.values())


def summary(kind: str, pairs: Sequence[tuple[Run, Run]]) -> dict[str, float]:
    """Medians over pairs: of both kinds, and of the share of throughput lost, by CPU and by the clock."""
    bare, with_all = ([pair[side] for pair in pairs] for side in (0, 1))
    by_cpu = [1 - without.cpu_per_answer / on.cpu_per_answer for without, on in pairs]
    by_clock = [1 - on.answers_per_second / without.answers_per_second for without, on in pairs]
    figures = {"pairs": float(len(pairs))}
    for name, runs in (("bare", bare), (kind, with_all)):
        figures[f"answers_per_second_{name}"] = statistics.median(run.answers_per_second for run in runs)
        figures[f"cpu_ms_per_answer_{name}"] = statistics.median(run.cpu_per_answer for run in runs)
    for name, lost in (("by_cpu", by_cpu), ("by_clock", by_clock)):
        low, high = interval(lost)
        figures |= {
            f"lost_{name}": statistics.median(lost),
            f"lost_{name}_low": low,
            f"lost_{name}_high": high,
        }
    return {name: round(value, 4) for name, value in figures.items()}


def interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    """Between which figures the median lies with 95 % certainty, by drawing again from the values."""
    medians = sorted(statistics.median(CHANCE.choices(values, k=len(values))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def judged(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What is above the aim of the CPU time with every trace kept; nothing where that was not measured."""
    found = figures.get("measured", {})
    said = {"lost_by_cpu": "the median", "lost_by_cpu_low": "the lower bound"}
    return [
        f"NOT KEPT: {what} of the CPU time lost is {found[name]:.2%}, more than {AIM:.0%}"
        for name, what in said.items()
        if found.get(name, 0.0) > AIM
    ]
