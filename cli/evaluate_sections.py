"""What a report says of each kind of result: its tables and its figures."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli.evaluate_evidence import COMPARED
from evaluation import answer_tables, figures, report, tally
from evaluation.agreement import Agreement
from evaluation.answer_tables import Compared
from evaluation.experts.tables import judge_table
from evaluation.judging.outcomes import Calibration, Judged
from evaluation.measures import Mean, mean
from evaluation.report import Table
from evaluation.report_page import Section
from evaluation.significance import Test

Values = dict[str, Any]
Made = Callable[[Values, Path, dict[str, str]], Section]
Plots = list[tuple[Path, str]]
UNCALIBRATED = "means of a judge that no labels stand behind are left out"


def retrieval(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    """Rankings, or cells over frozen sources: each row's means, and the first measure by group."""
    rows = _rows(values["rows"])
    first = next(iter(next(iter(rows.values()))))
    forest = _png(stem, "forest")
    figures.forest({row: _interval(by[first]) for row, by in rows.items()}, f"{first}, mean and 95 %", forest)
    plots = [(forest, f"{first}: mean and 95 % bootstrap interval over questions.")]
    lines = {row: points for row, by in rows.items() if len(points := _by_rank(by)) > 1}
    if lines:
        ranks = _png(stem, "ranks")
        figures.by_rank(lines, "recall (0 to 1)", ranks)
        plots.append((ranks, "Recall by the number of ranks looked at."))
    kind = "Retrieval" if values["kind"] == "retrieval" else "Answers from frozen sources"
    name = " ".join(part for part in (values["dataset"], values["split"]) if part)
    title = f"{kind}: {name}, {values['queries']} questions"
    tables = [(["", *rows], _cells(rows))]
    if groups := values.get("groups"):
        tables.append(_by_group(groups, first))
    return Section(title, tables, plots, facts)


def _rows(given: Values) -> dict[str, dict[str, Mean]]:
    return {report.ROW_NAMES.get(r, r): {n: Mean(**one) for n, one in by.items()} for r, by in given.items()}


def _by_group(groups: Mapping[str, Values], first: str) -> Table:
    names = list(dict.fromkeys(row for rows in groups.values() for row in _rows(rows)))
    body = []
    for group, given in groups.items():
        rows = _rows(given)
        found = [rows.get(name, {}).get(first) for name in names]
        body.append([group, *(_mean(None if one is None else vars(one)) for one in found)])
    return [first, *names], body


def _by_rank(by: Mapping[str, Mean]) -> list[tuple[int, float]]:
    return sorted((int(name[2:]), one.mean) for name, one in by.items() if name.startswith("R@"))


def _cells(rows: Mapping[str, Mapping[str, Mean]]) -> list[list[str]]:
    """A line per measure: there are more measures than rankings, and paper is narrow."""
    names = dict.fromkeys(name for by in rows.values() for name in by)
    return [
        [name, *(_mean(vars(by[name]) if name in by else None) for by in rows.values())] for name in names
    ]


def experts(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    """An expert study: grades, agreement, differences, and the judge beside the experts."""
    criteria = values["criteria"]
    body = [
        [
            c["criterion"],
            str(c["ratings"]),
            _mean(c["mean"]),
            _mean(c["ac1"], "value"),
            _mean(c["ac2"], "value"),
        ]
        for c in criteria
    ]
    grades, agreeing = _png(stem, "grades"), _png(stem, "agreement")
    counts = {c["criterion"]: {int(g): n for g, n in c["counts"].items()} for c in criteria}
    figures.distribution(counts, "grade, 1 (worst) to 5 (best)", grades)
    plots = [(grades, "How often each grade was given, per cent of a criterion's ratings.")]
    coefficients = {
        f"{c['criterion']} {name.upper()}": (c[name]["value"], c[name]["low"], c[name]["high"])
        for c in criteria for name in ("ac1", "ac2") if c[name]
    }  # fmt: skip
    if coefficients:
        figures.forest(coefficients, "agreement beyond chance (0 chance, 1 whole)", agreeing, chance=0)
        plots.append((agreeing, "Gwet's AC1 and AC2 (quadratic) with 95 % intervals; dotted: chance."))
    tables = [(["criterion", "ratings", "mean (95 %)", "AC1 (95 %)", "AC2 (95 %)"], body)]
    if judged := values.get("judge"):
        tables.append(judge_table({name: Test(**one) for name, one in judged.items()}))
    return Section(f"Expert study {values['study']}", tables, plots, facts)


def answers(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    """Answers: each metric with its interval, the judge beside people, and the model alone."""
    judged = [Judged(**one | {"mean": None}) for one in values["judged"]]
    calibration = {name: _calibration(one) for name, one in values["calibration"].items()}
    tables = [answer_tables.scores_table(values["scores"], judged, calibration)]
    if values["baseline"]:
        compared = {
            name: Compared(**one | {"test": Test(**one["test"])}) for name, one in values["baseline"].items()
        }
        tables.append(answer_tables.compared_table(compared))
    hidden = {one.metric for one in judged} - set(calibration)
    shown = {name: by for name, by in values["scores"].items() if name not in hidden}
    title = f"Answers: {values['cases']}, of which {values['unanswered']} unanswered"
    plots = [*_metrics(shown, stem), *_spreads(shown, stem), *_curve(calibration, stem)]
    return Section(title, tables, plots, facts | ({"note": UNCALIBRATED} if hidden else {}))


def _metrics(scores: Mapping[str, Mapping[str, float]], stem: Path) -> Plots:
    if not scores:
        return []
    path = _png(stem, "metrics")
    intervals = {name: _interval(mean(list(by.values()))) for name, by in scores.items()}
    figures.forest(intervals, "score (0 to 1), mean and 95 %", path)
    return [(path, "Each metric: mean and 95 % bootstrap interval over answers.")]


def _spreads(scores: Mapping[str, Mapping[str, float]], stem: Path) -> Plots:
    graded = {name: list(by.values()) for name, by in scores.items() if len(set(by.values())) > 2}
    if not graded:
        return []
    path = _png(stem, "spread")
    figures.boxes(graded, "score (0 to 1)", path)
    return [(path, "Scores over answers: median, quartiles, range within 1.5 quartile distances, outliers.")]


def _curve(calibration: Mapping[str, Calibration], stem: Path) -> Plots:
    curves = {name: list(one.curve) for name, one in calibration.items() if one.curve}
    if not curves:
        return []
    path = _png(stem, "calibration")
    figures.calibration(curves, "judge's score (0 to 1)", "people's yes (share, 0 to 1)", path)
    return [(path, "People's yes by the judge's score, in fifths of the scale; dotted: they agree.")]


def _calibration(one: Values) -> Calibration:
    return Calibration(
        Agreement(**one["kappa"]), one["agree"], one["judge_yes"], one["people_yes"],
        tuple(map(tuple, one["curve"])),
    )  # fmt: skip


def functional(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    """The question set through the service, by group."""
    groups = {name: tally.Tally(**one) for name, one in values["groups"].items()}
    title = f"Functional: {groups['all'].questions} questions, {len(values['failures'])} did not pass"
    return Section(title, [report.functional_table(groups)], (), facts)


def evidence(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    """How far chunk ids err as truth, chunking by chunking."""
    plot, cells = _png(stem, "error"), values["cells"]
    errors = {
        f"{one['tokens']} tokens, {one['overlap']:.0%}": _interval(Mean(**one["error"]["R@1"]))
        for one in cells
    }
    figures.forest(errors, "R@1 by chunk ids less Evidence@1", plot, chance=0)
    body = [
        [str(one["tokens"]), f"{one['overlap']:.0%}", *(_mean(one["error"][name]) for name in COMPARED)]
        for one in cells
    ]
    table = (["tokens", "overlap", *(f"{name} errs by (95 %)" for name in COMPARED)], body)
    caption = "How far chunk ids as truth err at rank 1; above 0: answers counted that were not whole."
    return Section(f"Evidence spans: {values['dataset']}", [table], [(plot, caption)], facts)


def _mean(one: Values | None, name: str = "mean") -> str:
    return "" if one is None else f"{one[name]:.3f} ({one['low']:.3f}–{one['high']:.3f})"


def _interval(one: Mean) -> figures.Interval:
    return one.mean, one.low, one.high


def _png(stem: Path, name: str) -> Path:
    return stem.with_name(f"{stem.name}-{name}.png")


KINDS: dict[str, Made] = {
    "retrieval": retrieval,
    "depth": retrieval,
    "evidence": evidence,
    "experts": experts,
    "answers": answers,
    "functional": functional,
}
