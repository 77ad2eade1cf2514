"""Each test of difference against its definition written out, on random data with ties."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from evaluation import significance
from evaluation.measures import mean

DRAW = random.Random(20261201)
GROUPS = [
    {name: [DRAW.randint(1, 5) for _ in range(DRAW.randint(5, 40))] for name in "abcd"} for _ in range(20)
]


@pytest.mark.parametrize("groups", GROUPS)
def test_kruskal_wallis_is_its_formula(groups: dict[str, list[float]]) -> None:
    values = [value for group in groups.values() for value in group]
    ranks, n = stats.rankdata(values), len(values)
    starts = np.cumsum([0, *(len(group) for group in groups.values())])
    sums = [ranks[a:b].sum() ** 2 / (b - a) for a, b in pairwise(starts)]
    ties = sum(c**3 - c for c in np.unique(values, return_counts=True)[1])
    h = (12 / (n * (n + 1)) * sum(sums) - 3 * (n + 1)) / (1 - ties / (n**3 - n))
    found = significance.kruskal_wallis(groups)
    assert found.statistic == pytest.approx(h)
    assert found.p == pytest.approx(stats.chi2.sf(h, 3))


@pytest.mark.parametrize("groups", GROUPS)
def test_mann_whitney_counts_pairs_and_pays_for_their_number(groups: dict[str, list[float]]) -> None:
    tests = significance.mann_whitney(groups)
    assert [test.name for test in tests] == ["a – b", "a – c", "a – d", "b – c", "b – d", "c – d"]
    u = sum((x > y) + 0.5 * (x == y) for x in groups["a"] for y in groups["b"])
    plain = stats.mannwhitneyu(groups["a"], groups["b"]).pvalue
    assert tests[0].statistic == u
    assert tests[0].p == pytest.approx(min(1, 6 * plain))


def test_chi_square_by_hand_and_without_empty_columns() -> None:
    """[[10, 20], [20, 10]]: every cell expects 15, so the sum is 4 · 25/15."""
    found = significance.chi_square([[10, 0, 20], [20, 0, 10]])
    assert found.statistic == pytest.approx(4 * 25 / 15)
    assert found.p == pytest.approx(stats.chi2.sf(4 * 25 / 15, 1))
    assert found.note == ""
    assert "fewer than 5" in significance.chi_square([[1, 2], [2, 1]]).note


@pytest.mark.parametrize("seed", range(10))
def test_spearman_is_pearson_of_the_ranks(seed: int) -> None:
    draw = random.Random(seed)
    one = [float(draw.randint(1, 5)) for _ in range(30)]
    other = [value + draw.randint(0, 3) for value in one]
    expected = np.corrcoef(stats.rankdata(one), stats.rankdata(other))[0, 1]
    found = significance.spearman([*one, math.nan], [*other, 1.0])
    assert found.statistic == pytest.approx(expected)
    assert found.n == 30


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_sums_the_ranks_of_what_differs(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [(float(draw.randint(0, 10)), float(draw.randint(0, 10))) for _ in range(60)]
    differences = np.array([x - y for x, y in pairs if x != y])
    ranks = stats.rankdata(abs(differences))
    smaller = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())
    found = significance.wilcoxon(*zip(*pairs, strict=True))
    assert found.statistic == pytest.approx(smaller)
    assert found.p == pytest.approx(stats.wilcoxon(differences).pvalue)


def test_what_cannot_be_decided_is_no_p_value() -> None:
    undecided = [
        significance.kruskal_wallis({"a": [3, 3], "b": [3]}),
        significance.kruskal_wallis({"a": [3, 4], "b": []}),
        significance.mann_whitney({"a": [1, 2], "b": []})[0],
        significance.chi_square([[3, 0], [4, 0]]),
        significance.spearman([1, 1, 1], [1, 2, 3]),
        significance.wilcoxon([1, 2], [1, 2]),
    ]
    assert all(test.p is None and test.note for test in undecided)


def test_cochran_sample_sizes_by_the_book() -> None:
    """Cochran: 384.16 for ± 5 %, and (n0 / (1 + (n0 - 1)/N)) in a small population."""
    assert significance.sample_size(0.05) == 385
    assert significance.sample_size(0.05, population=1000) == 278
    assert significance.sample_size(0.1, 0.9) == 68
    assert significance.sample_size(0.1, share=0.9) == 35


@pytest.mark.parametrize(
    ("margin", "confidence", "share", "population", "name"),
    [(0, 0.95, 0.5, None, "margin"), (0.1, 1, 0.5, None, "confidence"), (0.1, 0.9, 2, None, "share"),
     (0.1, 0.9, 0.5, 0, "population")],
)  # fmt: skip
def test_a_sample_size_names_the_limit(
    margin: float, confidence: float, share: float, population: int | None, name: str
) -> None:
    with pytest.raises(ValueError, match=f"{name} is"):
        significance.sample_size(margin, confidence, share, population)


def test_the_bootstrap_is_scipys() -> None:
    values = [float(DRAW.randint(1, 5)) for _ in range(80)]
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = mean(values)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)
