"""How far raters agree beyond chance: Gwet's AC1 and AC2, and the other coefficients of that family.

Gwet, Handbook of Inter-Rater Reliability (4th ed., 2014). A coefficient is (pa - pe) / (1 - pe). All share
the observed agreement pa, weighted and over subjects with two ratings or more, and differ in the agreement
pe that chance alone would bring. The standard error is the linearised one: the variance of the coefficient's
derivatives by each subject's weight, taken with a complex step, which is exact to rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Ratings = Sequence[Sequence[float | None]]
"""A row per subject, a column per rater; None or NaN where a rater gave none."""
Array: TypeAlias = NDArray[Any]  # complex while a derivative is taken
STEP, TINY = 1e-30, 1e-9
LEVELS = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (0.0, "slight"))
"""Landis and Koch (1977); below 0: poor."""


@dataclass(frozen=True)
class Agreement:
    """A coefficient (at most 1; 0 is chance), its standard error, and its 95 % interval by Student's t.

    `observed` and `chance` are pa and pe; `subjects` were rated once at least, `compared` twice at least.
    """

    value: float
    error: float
    low: float
    high: float
    observed: float
    chance: float
    subjects: int
    compared: int

    @property
    def level(self) -> str:
        """Landis and Koch's word, the highest that the true value reaches with probability 0.95 (Gwet)."""
        return interpretation(self.value, self.error)


@dataclass(frozen=True)
class _Table:
    counts: Array  # [subjects, categories]
    weights: Array  # [categories, categories]
    raters: Array  # [subjects, raters, categories], one-hot; empty where only counts are known

    @property
    def totals(self) -> Array:
        totals: Array = self.counts.sum(axis=1)
        return totals


def agreement(
    ratings: Ratings, categories: Sequence[float], weights: str = "unweighted", kind: str = "gwet"
) -> Agreement:
    """The coefficient of a table of ratings; `kind` is one of KINDS, `weights` one of WEIGHTS.

    `categories` is the whole scale, in order, also what nobody chose. gwet is AC1, and with weights AC2.
    Raises ValueError for a rating off the scale, fewer than two categories, or nothing to compare.
    """
    scale = list(categories)
    one_hot = np.array([[[value == one for one in scale] for value in row] for row in ratings], dtype=float)
    for place, row in enumerate(ratings, 1):
        if strange := [value for value in row if not _missing(value) and value not in scale]:
            raise ValueError(f"subject {place}: the rating {strange[0]} is not one of {scale}")
    return _coefficient(_Table(one_hot.sum(axis=1), weighting(weights, scale), one_hot), kind)


def from_counts(
    counts: Sequence[Sequence[int]], weights: str = "unweighted", kind: str = "gwet"
) -> Agreement:
    """The same from how many raters put each subject (row) into each category (column); not `conger`."""
    table = np.asarray(counts, dtype=float)
    if kind == "conger":
        raise ValueError("the coefficient 'conger' needs to know which rater said what")
    return _coefficient(_Table(table, weighting(weights, range(table.shape[1])), np.empty((0, 0, 0))), kind)


def from_table(table: Sequence[Sequence[int]], weights: str = "unweighted", kind: str = "gwet") -> Agreement:
    """The same for two raters from their contingency table (rows: the first one's categories).

    `conger` is Cohen's kappa here, and `fleiss` Scott's pi. As in irrCAC the variance is divided by the
    number of subjects, not by one less.
    """
    pairs = [
        (row, column) for row, line in enumerate(table) for column, n in enumerate(line) for _ in range(n)
    ]
    found = agreement(pairs, range(len(table)), weights, kind)
    return _with_error(found, found.error * float(np.sqrt((found.subjects - 1) / found.subjects)))


def weighting(name: str, categories: Sequence[float]) -> Array:
    """How much each pair of categories agrees, 0..1 [categories, categories]. Raises ValueError."""
    if len(categories) < 2:
        raise ValueError("agreement needs a scale of two categories at least")
    if name not in WEIGHTS:
        raise ValueError(f"the weights {name!r} are none of {', '.join(WEIGHTS)}")
    scale = np.asarray(categories, dtype=float)
    return WEIGHTS[name](scale, np.abs(scale[:, None] - scale[None, :]))


def interpretation(value: float, error: float) -> str:
    """Landis and Koch's word for a coefficient: the highest reached with a probability of 0.95."""
    for limit, word in LEVELS:
        if _reached(value, error, limit) >= 0.95:
            return word
    return "poor"


def _reached(value: float, error: float, limit: float) -> float:
    """The probability that the true value is above `limit`, when it lies between -1 and 1."""
    if error < TINY:
        return float(value >= limit - TINY)
    beyond, inside, above = (stats.norm.cdf((value - edge) / error) for edge in (1.0, -1.0, limit))
    return float((above - beyond) / (inside - beyond))


def _missing(value: float | None) -> bool:
    return value is None or isnan(value)


def _coefficient(table: _Table, kind: str) -> Agreement:
    if kind not in KINDS:
        raise ValueError(f"the coefficient {kind!r} is none of {', '.join(KINDS)}")
    subjects, compared = (int((table.totals >= ratings).sum()) for ratings in (1, 2))
    # Krippendorff looks only at what can be compared.
    table = _kept(table, table.totals >= (2 if kind == "krippendorff" else 1))
    n = len(table.counts)
    if n < 2 or not compared:
        raise ValueError("agreement needs two rated subjects, and one with two ratings")
    even = np.ones(n)
    value, observed, chance = (float(part) for part in _parts(table, even, kind))
    slopes = np.array([_parts(table, even + 1j * STEP * unit, kind)[0].imag / STEP for unit in np.eye(n)])
    error = float(np.sqrt(n / (n - 1) * (slopes**2).sum()))
    if kind == "krippendorff":  # for few ratings; the derivative is that of the plain coefficient
        observed += (1 - observed) / table.totals.sum()
        value = (observed - chance) / (1 - chance)
    return _with_error(Agreement(value, 0, 0, 0, observed, chance, subjects, compared), error)


def _with_error(found: Agreement, error: float) -> Agreement:
    half = float(stats.t.ppf(0.975, found.subjects - 1)) * error
    low, high = max(-1.0, found.value - half), min(1.0, found.value + half)
    return replace(found, error=error, low=low, high=high)


def _kept(table: _Table, rows: Array) -> _Table:
    raters = table.raters[rows] if len(table.raters) else table.raters
    return replace(table, counts=table.counts[rows], raters=raters)


def _parts(table: _Table, subject_weights: Array, kind: str) -> tuple[Any, Any, Any]:
    """Coefficient, pa and pe with these weights of the subjects.

    As Gwet has it, the share of subjects that can be compared is a constant, not a part of the derivative.
    """
    w = subject_weights / subject_weights.sum()
    comparable = table.totals >= 2
    share = comparable.mean()
    agreeing, pe = _agreeing(table, w, kind), KINDS[kind](table, w)
    value = w @ np.where(comparable, agreeing - pe, 0) / share / (1 - pe)
    return value, w @ agreeing / share, pe


def _agreeing(table: _Table, w: Array, kind: str) -> Array:
    """The share of each subject's pairs of ratings that agree; 0 for a subject rated once."""
    totals = table.totals
    pairs = (table.counts * (table.counts @ table.weights - 1)).sum(axis=1)
    if kind == "krippendorff":  # subjects count by their number of ratings
        shares: Array = pairs / ((w @ totals) * (totals - 1))
        return shares
    return np.where(totals >= 2, pairs / np.maximum(totals * (totals - 1), 1), 0)


def _prevalence(table: _Table, w: Array) -> Array:
    shares: Array = w @ (table.counts / table.totals[:, None])
    return shares


def _gwet(table: _Table, w: Array) -> Any:
    p, q = _prevalence(table, w), len(table.weights)
    return table.weights.sum() * (p * (1 - p)).sum() / (q * (q - 1))


def _fleiss(table: _Table, w: Array) -> Any:
    p = _prevalence(table, w)
    chance = p @ table.weights @ p
    return chance


def _krippendorff(table: _Table, w: Array) -> Any:
    p = w @ table.counts / (w @ table.totals)
    chance = p @ table.weights @ p
    return chance


def _conger(table: _Table, w: Array) -> Any:
    """Pairs of different raters, each with their own habits; with two raters this is Cohen's kappa."""
    given = table.raters.sum(axis=2)
    by_rater = np.einsum("i,irk->rk", w, table.raters) / (w @ given)[:, None]
    raters, total = len(by_rater), by_rater.sum(axis=0)
    own = np.einsum("rk,kl,rl->", by_rater, table.weights, by_rater)
    return (total @ table.weights @ total - own) / (raters * (raters - 1))


WEIGHTS: dict[str, Callable[[Array, Array], Array]] = {
    "unweighted": lambda scale, apart: np.eye(len(scale)),
    "linear": lambda scale, apart: 1 - apart / apart.max(),
    "quadratic": lambda scale, apart: 1 - (apart / apart.max()) ** 2,
}
KINDS: dict[str, Callable[[_Table, Array], Any]] = {
    "gwet": _gwet,
    "fleiss": _fleiss,
    "krippendorff": _krippendorff,
    "conger": _conger,
    "brennan_prediger": lambda table, w: table.weights.sum() / len(table.weights) ** 2,
    "percent": lambda table, w: 0.0,
}
