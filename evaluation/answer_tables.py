"""Figures of answers as tables: each metric with its interval and its judge's failures, and a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.experts.tables import p_value
from evaluation.judging.outcomes import Calibration, Judged
from evaluation.measures import mean
from evaluation.report import Table
from evaluation.significance import Test, wilcoxon
from evaluation.written import Scores


def scores_table(
    scores: Scores,
    judged: Sequence[Judged],
    calibration: Mapping[str, Calibration],
    uncalibrated: bool = False,
) -> Table:
    """A row per metric; a judge's has its failures, its spread, and whether people agree with it.

    A judge's mean is shown when people's labels stand behind it, or when `uncalibrated` ones are wanted.
    """
    by_name = {one.metric: one for one in judged}
    body = []
    for name in dict.fromkeys([*by_name, *scores]):
        one, figure = by_name.get(name), mean(list(scores[name].values())) if scores.get(name) else None
        hidden = one is not None and name not in calibration and not uncalibrated
        shown = "" if figure is None or hidden else f"{figure.mean:.3f} ({figure.low:.3f}–{figure.high:.3f})"
        failures = "" if one is None else ", ".join(f"{k} {n}" for k, n in one.failures.items()) or "none"
        spread = "" if one is None or one.spread is None else f"{one.spread:.3f}"
        kappa = _kappa(calibration.get(name)) if one else ""
        body.append([name, str(len(scores.get(name, {}))), shown, failures, spread, kappa])
    return ["metric", "cases", "mean (95 %)", "failures", "spread", "κ with people"], body


@dataclass(frozen=True)
class Compared:
    """A metric over the same questions with sources and without: means, and Wilcoxon's test of the pairs."""

    ours: float
    alone: float
    test: Test


def compared(scores: Scores, others: Scores) -> dict[str, Compared]:
    """Each metric that both have, over the cases that both have."""
    found = {}
    for metric in (name for name in scores if name in others):
        both = [case for case in scores[metric] if case in others[metric]]
        if both:
            ours, alone = ([values[metric][case] for case in both] for values in (scores, others))
            found[metric] = Compared(mean(ours).mean, mean(alone).mean, wilcoxon(ours, alone))
    return found


def compared_table(found: Mapping[str, Compared]) -> Table:
    """A row per metric."""
    body = [
        [name, f"{one.ours:.3f}", f"{one.alone:.3f}", str(one.test.n), p_value(one.test)]
        for name, one in found.items()
    ]
    return ["metric", "with sources", "model alone", "pairs", "Wilcoxon p"], body


def _kappa(one: Calibration | None) -> str:
    if one is None:
        return "not calibrated"
    return f"{one.kappa.value:.2f} (yes: judge {one.judge_yes:.2f}, people {one.people_yes:.2f})"
