"""Draws the dashboards from a Prometheus, to look at them where there is no Grafana.

Run: python -m deploy.observability.plot 127.0.0.1:9090 FOLDER [--minutes 60]
"""

import argparse
import json
import math
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from deploy.observability.dashboards import BOARDS
from deploy.observability.panels import COLUMNS, Board, Panel, as_json

mpl.use("agg")
STEPS = 240  # points of a line
WINDOW = "2m"  # what Grafana would put for $__rate_interval with a scrape every 15 s, rounded up
UNITS = {
    "s": (1.0, " s"),
    "bytes": (2.0**-20, " MiB"),
    "percentunit": (100.0, " %"),
    "ops": (1.0, "/s"),
    "reqps": (1.0, " calls/s"),
    "watt": (1.0, " W"),
}
Series = Mapping[str, Any]


class Source:
    """A Prometheus, asked about `minutes` that ended `ago` minutes ago."""

    def __init__(self, address: str, minutes: float, ago: float = 0.0) -> None:
        self._address, self._seconds = address, minutes * 60
        self._now = time.time() - 60 * ago

    def ago(self, when: float) -> float:
        """An instant in minutes from now."""
        return (when - self._now) / 60

    def lines(self, expr: str) -> Sequence[Series]:
        """The series of a query over the time."""
        step = max(5.0, self._seconds / STEPS)
        return self._ask("query_range", expr, start=self._now - self._seconds, end=self._now, step=step)

    def values(self, expr: str) -> Sequence[Series]:
        """The series of a query as they are now."""
        return self._ask("query", expr, time=self._now)

    def _ask(self, path: str, expr: str, **parameters: float) -> Sequence[Series]:
        query = {"query": expr.replace("$__rate_interval", WINDOW), **parameters}
        url = f"http://{self._address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as reply:
            found: Sequence[Series] = json.load(reply)["data"]["result"]
        return found


def draw(board: Board, source: Source, path: Path) -> list[str]:
    """Draws a board into a file; returns the titles of the panels that are empty."""
    places = [one for one in as_json(board)["panels"] if one["type"] != "row"]
    rows = max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in places)
    figure = pyplot.figure(figsize=(20, rows * 0.42), layout="none")
    grid = figure.add_gridspec(rows, COLUMNS, left=0.04, right=0.99, top=0.97, bottom=0.02)
    empty = []
    for panel, place in zip(board.panels, (one["gridPos"] for one in places), strict=True):
        top, left = place["y"], place["x"]
        axes = figure.add_subplot(grid[top + 1 : top + place["h"] - 2, left : left + place["w"] - 1])
        axes.set_title(panel.title, loc="left", fontsize=10)
        if not _DRAWERS.get(panel.kind, timeseries)(axes, panel, source):
            empty.append(panel.title)
            axes.text(0.5, 0.5, f"no data: {panel.silent or 'NO REASON GIVEN'}", ha="center", fontsize=8)
    figure.suptitle(f"RadRAG / {board.title}", fontsize=12)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)
    return empty


def timeseries(axes: Axes, panel: Panel, source: Source) -> bool:
    """Lines, or areas on top of each other."""
    drawn = []
    for query in panel.queries:
        for one in source.lines(query.expr):
            at = [source.ago(float(when)) for when, _ in one["values"]]
            drawn.append((_named(query.legend, one), at, [float(value) for _, value in one["values"]]))
    if panel.stacked and drawn:
        times = sorted({when for _, at, _ in drawn for when in at})
        rows = [
            [dict(zip(at, values, strict=True)).get(when, 0.0) for when in times] for _, at, values in drawn
        ]
        axes.stackplot(times, rows, labels=[name for name, _, _ in drawn], alpha=0.6)
    else:
        for name, at, values in drawn:
            axes.plot(at, values, label=name, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _text(value, panel.unit)))
    axes.tick_params(labelsize=7)
    if drawn:
        axes.legend(fontsize=6, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    return bool(drawn)


def numbers(axes: Axes, panel: Panel, source: Source) -> bool:
    """Big numbers, or a table's rows, as text."""
    lines = []
    for query in panel.queries:
        for one in source.values(query.expr):
            value = _text(float(one["value"][1]), panel.unit)
            said = _named(query.legend, one) if query.legend else " ".join(one["metric"].values())
            lines.append(f"{value:>10}  {said[:70]}")
    axes.axis("off")
    axes.text(0.0, 0.95, "\n".join(lines), va="top", family="monospace", fontsize=8)
    return bool(lines)


def bars(axes: Axes, panel: Panel, source: Source) -> bool:
    """One bar a series."""
    found = [(_named(query.legend, one), float(one["value"][1]))
             for query in panel.queries for one in source.values(query.expr)]  # fmt: skip
    axes.barh([name for name, _ in found], [value for _, value in found])
    axes.tick_params(labelsize=7)
    return bool(found)


_DRAWERS = {"stat": numbers, "table": numbers, "bargauge": bars}


def _named(legend: str, series: Series) -> str:
    name = legend
    for label, value in series["metric"].items():
        name = name.replace(f"{{{{{label}}}}}", value.rpartition(".")[2] if label == "method" else value)
    return name


def _text(value: float, unit: str) -> str:
    times, said = UNITS.get(unit, (1.0, ""))
    return "–" if math.isnan(value) else f"{value * times:.4g}{said}"


def main() -> None:
    """Draws all boards."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("prometheus", help="host:port")
    given.add_argument("folder", type=Path)
    given.add_argument("--minutes", type=float, default=60.0)
    given.add_argument("--ago", type=float, default=0.0, help="minutes since the end of what is drawn")
    asked = given.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    source = Source(asked.prometheus, asked.minutes, asked.ago)
    for board in BOARDS:
        empty = draw(board, source, asked.folder / f"{board.uid}.png")
        said = f"   empty: {', '.join(empty)}" if empty else ""
        sys.stdout.write(f"{board.uid}.png{said}\n")


if __name__ == "__main__":
    main()
