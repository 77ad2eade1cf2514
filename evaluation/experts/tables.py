"""A study's figures as tables, in the words a reader expects."""

from collections.abc import Mapping, Sequence

from evaluation.agreement import Agreement
from evaluation.experts.study import Compared, Described
from evaluation.report import Table
from evaluation.significance import Test


def described_table(found: Sequence[Described]) -> Table:
    """A row per criterion."""
    headings = ["criterion", "ratings", "mean (95 %)", "SD", "grades", "AC1 (95 %)", "AC2 (95 %)", "AC2 is"]
    body = [
        [
            one.criterion,
            str(one.ratings),
            f"{one.mean.mean:.2f} ({one.mean.low:.2f}–{one.mean.high:.2f})",
            "" if one.sd is None else f"{one.sd:.2f}",
            " ".join(f"{grade}:{count}" for grade, count in one.counts.items()),
            _agreement(one.ac1),
            _agreement(one.ac2),
            "" if one.ac2 is None else one.ac2.level,
            _percent(one.identical),
            _percent(one.close),
        ]
        for one in found
    ]
    return [*headings, "all identical", "within one grade"], body


def compared_table(found: Sequence[Compared]) -> Table:
    """A row per criterion and way of grouping, with the pairs that differ at 0.05 after Bonferroni."""
    body = [
        [
            one.criterion,
            one.between,
            " ".join(f"{name}:{value:.1f}" for name, value in one.medians.items()),
            p_value(one.overall),
            p_value(one.grades),
            "; ".join(pair.name for pair in one.pairs if pair.p is not None and pair.p < 0.05) or "none",
        ]
        for one in found
    ]
    return ["criterion", "between", "medians", "Kruskal–Wallis", "chi-square", "pairs that differ"], body


def judge_table(found: Mapping[str, Test]) -> Table:
    """A row per pair of a judge's metric and an expert criterion."""
    body = [
        [name, "" if one.statistic is None else f"{one.statistic:.3f}", p_value(one), str(one.n)]
        for name, one in found.items()
    ]
    return ["judge – experts", "Spearman ρ", "p", "questions"], body


def p_value(test: Test) -> str:
    """p in words: never 0.000, and a reason where there is none."""
    if test.p is None:
        return test.note
    shown = "< 0.001" if test.p < 0.001 else f"{test.p:.3f}"
    return f"{shown} ({test.note})" if test.note else shown


def _agreement(one: Agreement | None) -> str:
    return "" if one is None else f"{one.value:.2f} ({one.low:.2f}–{one.high:.2f})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"
