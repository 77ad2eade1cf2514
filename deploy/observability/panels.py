"""What a Grafana panel is made of, and how panels become a dashboard's JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

SOURCE = {"type": "prometheus", "uid": "${source}"}
COLUMNS = 24
# Lines are named by what is called, without the package before it.
SHORT = {
    "id": "renameByRegex",
    "options": {"regex": "radrag\\.\\w+\\.v1\\.(.*)", "renamePattern": "$1"},
}


@dataclass(frozen=True)
class Query:
    """PromQL and how its series are named."""

    expr: str
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    """One picture. `kind`: timeseries, stat, bargauge, table, heatmap; `silent` says why it may be empty."""

    title: str
    queries: Sequence[Query]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    description: str = ""
    stacked: bool = False
    limits: tuple[float, ...] = field(default=())  # green below, then orange, red
    silent: str = ""


@dataclass(frozen=True)
class Board:
    """A dashboard: its uid is its file's name."""

    uid: str
    title: str
    description: str
    rows: Sequence[tuple[str, Sequence[Panel]]]

    @property
    def panels(self) -> list[Panel]:
        """All panels, top down."""
        return [panel for _, panels in self.rows for panel in panels]


def as_json(board: Board) -> dict[str, Any]:
    """The dashboard as Grafana imports it."""
    return {
        "uid": f"radrag-{board.uid}",
        "title": f"RadRAG / {board.title}",
        "description": board.description,
        "tags": ["radrag"],
        "timezone": "browser",
        "schemaVersion": 39,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_source()]},
        "links": [
            {"type": "dashboards", "tags": ["radrag"], "title": "RadRAG", "asDropdown": True, "icon": "apps"}
        ],
        "panels": list(_placed(board)),
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _placed(board: Board) -> Iterator[dict[str, Any]]:
    """Panels side by side in rows of 24 columns, each row below a heading."""
    number, y = 1, 0
    for title, panels in board.rows:
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "panels": [],
            "gridPos": _at(0, y, COLUMNS, 1),
        }
        number, y, x = number + 1, y + 1, 0
        for panel in panels:
            if x + panel.width > COLUMNS:
                x, y = 0, y + 8
            yield _panel(panel, number, _at(x, y, panel.width, 8))
            number, x = number + 1, x + panel.width
        y += 8


def _at(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": SOURCE,
        "gridPos": place,
        "targets": [_target(query, index, panel) for index, query in enumerate(panel.queries)],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _options(panel),
        "transformations": [SHORT] if any("{{method}}" in query.legend for query in panel.queries) else [],
    }


def _target(query: Query, index: int, panel: Panel) -> dict[str, Any]:
    return {
        "refId": chr(ord("A") + index),
        "datasource": SOURCE,
        "expr": query.expr,
        "legendFormat": query.legend,
        "exemplar": "_bucket" in query.expr and panel.kind == "timeseries",
        "instant": panel.kind in {"stat", "bargauge", "table"},
        "format": {"table": "table", "heatmap": "heatmap"}.get(panel.kind, "time_series"),
    }


def _defaults(panel: Panel) -> dict[str, Any]:
    colours = ("orange", "red")
    steps = [{"color": "green", "value": None}]
    steps += [{"color": colour, "value": limit} for colour, limit in zip(colours, panel.limits, strict=False)]  # type: ignore[dict-item]
    drawn = {"fillOpacity": 25 if panel.stacked else 5, "lineWidth": 1, "showPoints": "never"}
    stacking = {"mode": "normal" if panel.stacked else "none"}
    return {
        "unit": panel.unit,
        "min": 0,
        "thresholds": {"mode": "absolute", "steps": steps},
        "custom": {**drawn, "stacking": stacking} if panel.kind == "timeseries" else {},
    }


def _options(panel: Panel) -> dict[str, Any]:
    if panel.kind == "timeseries":
        return {"legend": {"displayMode": "table", "calcs": ["lastNotNull", "max"], "placement": "bottom"}}
    if panel.kind in {"stat", "bargauge"}:
        return {"reduceOptions": {"calcs": ["lastNotNull"]}, "orientation": "auto"}
    return {}
