"""The tests a reader study reports, by SciPy, with what SciPy cannot decide said in words.

A test that the data cannot answer (all values equal, one group empty) has p None and says why.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Test:
    """A test's statistic and two-sided p (0..1), over `n` values; both None where `note` says why not."""

    name: str
    statistic: float | None
    p: float | None
    n: int
    note: str = ""


def kruskal_wallis(groups: Mapping[str, Sequence[float]]) -> Test:
    """Whether groups differ at all (H, corrected for ties)."""
    given = [values for values in groups.values() if len(values)]
    if why := _undecidable(given):
        return Test("Kruskal–Wallis", None, None, sum(map(len, given)), why)
    found = stats.kruskal(*given)
    return Test("Kruskal–Wallis", float(found.statistic), float(found.pvalue), sum(map(len, given)))


def mann_whitney(groups: Mapping[str, Sequence[float]]) -> list[Test]:
    """Which pairs of groups differ (U of the first); p by Bonferroni: times the number of pairs."""
    pairs = list(combinations(groups, 2))
    return [_mann_whitney(one, other, groups, len(pairs)) for one, other in pairs]


def _mann_whitney(one: str, other: str, groups: Mapping[str, Sequence[float]], pairs: int) -> Test:
    name, n = f"{one} – {other}", len(groups[one]) + len(groups[other])
    if why := _undecidable([groups[one], groups[other]]):
        return Test(name, None, None, n, why)
    found = stats.mannwhitneyu(groups[one], groups[other], alternative="two-sided")
    return Test(name, float(found.statistic), min(1.0, float(found.pvalue) * pairs), n)


def chi_square(table: Sequence[Sequence[int]]) -> Test:
    """Whether rows and columns of counts depend on each other; empty rows and columns are left out.

    Pearson's, without Yates' correction. The note warns where a fifth of the cells expect fewer than five.
    """
    counts = np.asarray(table, dtype=np.int64)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    if min(counts.shape) < 2:
        return Test("chi-square", None, None, int(counts.sum()), "only one row or column has any values")
    found = stats.chi2_contingency(counts, correction=False)
    few = (found.expected_freq < 5).mean() > 0.2
    note = "a fifth of the cells expect fewer than 5" if few else ""
    return Test("chi-square", float(found.statistic), float(found.pvalue), int(counts.sum()), note)


def spearman(one: Sequence[float], other: Sequence[float]) -> Test:
    """Rank correlation of pairs, -1..1; a pair with NaN is left out."""
    pairs = [(x, y) for x, y in zip(one, other, strict=True) if not (math.isnan(x) or math.isnan(y))]
    if len(pairs) < 3 or any(len(set(values)) < 2 for values in zip(*pairs, strict=True)):
        return Test("Spearman", None, None, len(pairs), "fewer than three pairs, or one side is constant")
    found = stats.spearmanr(*zip(*pairs, strict=True))
    return Test("Spearman", float(found.statistic), float(found.pvalue), len(pairs))


def wilcoxon(one: Sequence[float], other: Sequence[float]) -> Test:
    """Whether paired values differ (signed ranks); equal pairs are dropped, as Wilcoxon has it."""
    pairs = [(x, y) for x, y in zip(one, other, strict=True) if not (math.isnan(x) or math.isnan(y))]
    differences = [x - y for x, y in pairs]
    if not any(differences):
        return Test("Wilcoxon signed-rank", None, None, len(pairs), "no pair differs")
    found = stats.wilcoxon(differences, zero_method="wilcox", method="auto")
    return Test("Wilcoxon signed-rank", float(found.statistic), float(found.pvalue), len(pairs))


def sample_size(
    margin: float, confidence: float = 0.95, share: float = 0.5, population: int | None = None
) -> int:
    """How many questions show a share within ± margin (Cochran 1977), with the finite-population correction.

    Margin, confidence and share lie between 0 and 1. Raises ValueError naming the one that does not.
    """
    for name, value in {"margin": margin, "confidence": confidence, "share": share}.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}; it must lie between 0 and 1")
    if population is not None and population < 1:
        raise ValueError(f"population is {population}; it must be 1 at least")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    wanted = z**2 * share * (1 - share) / margin**2
    if population is not None:
        wanted /= 1 + (wanted - 1) / population
    return math.ceil(round(wanted, 9))


def _undecidable(groups: Sequence[Sequence[float]]) -> str:
    if len(groups) < 2 or not all(len(values) for values in groups):
        return "fewer than two groups have values"
    return "" if len({value for values in groups for value in values}) > 1 else "all values are equal"
