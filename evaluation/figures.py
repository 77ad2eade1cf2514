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
    axes.legend(fontsize=8)
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
    axes.legend(fontsize=8)
    _save(figure, axes, path)


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    # No date in the file: the same figures give the same bytes.
    figure.savefig(path, dpi=150, metadata={"Software": None})
