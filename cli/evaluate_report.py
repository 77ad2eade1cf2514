"""`radrag eval report`: results of measurements (`--json`) as one HTML and one Markdown file with figures."""

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import figures, report
from evaluation.jsonl import DatasetError
from evaluation.measures import Mean
from evaluation.report_page import Section, as_html, as_markdown

Values = dict[str, Any]


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Writes report.html and report.md, and the figures, into a folder."""
    given.out.mkdir(parents=True, exist_ok=True)
    sections = [_section(path, number, given.out) for number, path in enumerate(given.results, 1)]
    (given.out / "report.md").write_text(as_markdown(given.title, sections), encoding="utf-8")
    (given.out / "report.html").write_text(as_html(given.title, sections), encoding="utf-8")
    screen.text(f"{given.out / 'report.html'}, {given.out / 'report.md'}")
    return Exit.OK


def _section(path: Path, number: int, out: Path) -> Section:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        made = KINDS[values["kind"]]
        return made(values, out / f"{number}-{path.stem}", _facts(path, values))
    except OSError:
        raise DatasetError(path, 0, "is missing") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        kinds = ", ".join(KINDS)
        raise DatasetError(path, 0, f"is no result of eval {kinds} with --json ({error!r})") from None


def _facts(path: Path, values: Values) -> dict[str, str]:
    """Where the figures come from: hashes of data, settings and result, day, commit, machine, command."""
    names = ("data_sha256", "settings_sha256", "study", "seed", "judge", "day", "commit")
    facts = {name: str(values[name]) for name in names if values.get(name) not in (None, "")}
    facts["result_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if machine := values.get("machine"):
        facts["machine"] = f"{machine['processor']}, {machine['cores']} cores"
    return facts | {"redo": COMMANDS[values["kind"]].format(**{"dataset": "", "split": ""} | values)}


def _retrieval(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    rows = {row: {n: Mean(**one) for n, one in by.items()} for row, by in values["rows"].items()}
    first = next(iter(next(iter(rows.values()))))
    named = {report.ROW_NAMES.get(row, row): by for row, by in rows.items()}
    plots = []
    forest = _png(stem, "forest")
    figures.forest(
        {row: _interval(by[first]) for row, by in named.items()}, f"{first}, mean and 95 %", forest
    )
    plots.append((forest, f"{first} by ranking: mean and 95 % bootstrap interval over questions."))
    lines = {row: points for row, by in named.items() if len(points := _by_rank(by)) > 1}
    if lines:
        ranks = _png(stem, "ranks")
        figures.by_rank(lines, "recall (0 to 1)", ranks)
        plots.append((ranks, "Recall by the number of ranks looked at."))
    title = f"Retrieval: {values['dataset']} {values['split']}, {values['queries']} questions"
    table = (["", *rows[next(iter(rows))]], _cells(named))
    return Section(title, [table], plots, facts)


def _by_rank(by: Mapping[str, Mean]) -> list[tuple[int, float]]:
    return sorted((int(name[2:]), one.mean) for name, one in by.items() if name.startswith("R@"))


def _cells(named: Mapping[str, Mapping[str, Mean]]) -> list[list[str]]:
    return [[row, *(_mean(vars(one)) for one in by.values())] for row, by in named.items()]


def _experts(values: Values, stem: Path, facts: dict[str, str]) -> Section:
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
    table = (["criterion", "ratings", "mean (95 %)", "AC1 (95 %)", "AC2 (95 %)"], body)
    return Section(f"Expert study {values['study']}", [table], plots, facts)


def _answers(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    body = []
    for name, by_case in values["scores"].items():
        judged = next((one for one in values["judged"] if one["metric"] == name), None)
        failures = "" if judged is None else ", ".join(f"{k} {n}" for k, n in judged["failures"].items())
        body.append([name, str(len(by_case)), f"{sum(by_case.values()) / len(by_case):.3f}", failures])
    table = (["metric", "cases", "mean", "failures of the judge"], body)
    return Section(f"Answers, {values['unanswered']} unanswered", [table], (), facts)


def _evidence(values: Values, stem: Path, facts: dict[str, str]) -> Section:
    from cli.evaluate_evidence import COMPARED  # noqa: PLC0415  only for this kind

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


KINDS = {"retrieval": _retrieval, "evidence": _evidence, "experts": _experts, "answers": _answers}
COMMANDS = {
    "retrieval": "radrag eval retrieval {dataset} --split={split} --json",
    "evidence": "radrag eval evidence {dataset} --json",
    "experts": "radrag eval experts report FOLDER --json",
    "answers": "radrag eval answers FILE --json",
}
