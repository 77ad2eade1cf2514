"""Figures for reports, readable in black and white: shapes and hatching carry what colour would."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

MARKERS, HATCHES = "osD^vPX*", ("", "///", "...", "xxx", "---")
Interval = tuple[float, float, float]
"""Mean, low and high end."""


def forest(rows: Mapping[str, Interval], axis: str, path: Path, chance: float | None = None) -> None:
    """Means with their intervals, a line each, best on top; `chance` draws a line to compare with."""
    figure = Figure(figsize=(7, 0.9 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    order = sorted(rows, key=lambda name: rows[name][0])
    for place, name in enumerate(order):
        mean, low, high = rows[name]
        axes.plot([low, high], [place, place], color="black", linewidth=1.2)
        axes.plot(mean, place, "o", color="black", markersize=5)
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.set_xlabel(axis)
    axes.set_ylim(-0.7, len(order) - 0.3)
    if chance is not None:
        axes.axvline(chance, color="gray", linestyle=":")
    _save(figure, axes, path)


def distribution(counts: Mapping[str, Mapping[int, int]], axis: str, path: Path) -> None:
    """Shares of each grade, criterion by criterion, side by side."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(1, len(counts))
    grades = sorted({grade for by_grade in counts.values() for grade in by_grade})
    for k, (name, by_grade) in enumerate(counts.items()):
        total = sum(by_grade.values())
        heights = [100 * by_grade.get(grade, 0) / total for grade in grades]
        at = [place + (k - (len(counts) - 1) / 2) * width for place in range(len(grades))]
        shade = str(0.85 - 0.15 * (k % 4))
        axes.bar(at, heights, width, label=name, color=shade, edgecolor="black", hatch=HATCHES[k % 5])
    axes.set_xticks(range(len(grades)), [str(grade) for grade in grades])
    axes.set_xlabel(axis)
    axes.set_ylabel("ratings, %")
    figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    _save(figure, axes, path)


def by_rank(lines: Mapping[str, Sequence[tuple[int, float]]], axis: str, path: Path) -> None:
    """A measure against the number of ranks looked at."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for k, (name, points) in enumerate(lines.items()):
        style = ("-", "--", ":", "-.")[k % 4]
        axes.plot(*zip(*points, strict=True), style, marker=MARKERS[k % 8], color="black", label=name)
    axes.set_xlabel("ranks looked at")
    axes.set_ylabel(axis)
    axes.set_ylim(0, 1)
    figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    _save(figure, axes, path)


def boxes(values: Mapping[str, Sequence[float]], axis: str, path: Path) -> None:
    """How values spread, a box each: median, quartiles, whiskers, outliers."""
    figure = Figure(figsize=(7, 0.9 + 0.36 * len(values)), layout="constrained")
    axes = figure.subplots()
    black = {"color": "black"}
    axes.boxplot(
        list(values.values()), orientation="horizontal", tick_labels=list(values), widths=0.55,
        medianprops=black | {"linewidth": 2}, boxprops=black, whiskerprops=black, capprops=black,
        flierprops={"marker": "o", "markersize": 3, "markerfacecolor": "none"},
    )  # fmt: skip
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel(axis)
    _save(figure, axes, path)


def calibration(
    curves: Mapping[str, Sequence[tuple[float, float, int]]], across: str, up: str, path: Path
) -> None:
    """Two judgements of the same cases against each other, with the number of cases beside each point."""
    figure = Figure(figsize=(5, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], ":", color="gray")
    for k, (name, points) in enumerate(curves.items()):
        style, places = ("-", "--", ":", "-.")[k % 4], [point[:2] for point in points]
        axes.plot(*zip(*places, strict=True), style, marker=MARKERS[k % 8], color="black", label=name)
        for across_at, up_at, cases in points:
            axes.annotate(str(cases), (across_at, up_at), (5, 5), textcoords="offset points", fontsize=8)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_xlim(-0.03, 1.08)
    axes.set_ylim(-0.03, 1.08)
    figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    _save(figure, axes, path)


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    # No date in the file: the same figures give the same bytes.
    figure.savefig(path, dpi=150, metadata={"Software": None})
