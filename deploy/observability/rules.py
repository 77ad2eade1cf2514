"""Writes the Prometheus rules from slo.yaml and alerts.yaml. Run: make rules"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
RULES = HERE / "rules" / "radrag.rules.yaml"
CHART = HERE.parent / "helm" / "radrag" / "files" / RULES.name  # a chart reads no file outside itself
RUNBOOKS = "deploy/runbooks"
HEADER = "# Made by `make rules` from slo.yaml and alerts.yaml: change those.\n"

Rule = dict[str, Any]


def written() -> str:
    """The rules file as it should be."""
    slo, alerts = _read("slo.yaml"), _read("alerts.yaml")
    groups = [
        {"name": "radrag-ratios", "interval": "30s", "rules": list(ratios(slo))},
        {"name": "radrag-burn-rates", "rules": list(burn_rates(slo))},
        {"name": "radrag-alerts", "rules": [_alert(one) for one in alerts["alerts"]]},
    ]
    return HEADER + yaml.safe_dump({"groups": groups}, sort_keys=False, width=1000, allow_unicode=True)


def ratios(slo: dict[str, Any]) -> Iterator[Rule]:
    """For each objective and window the share of bad events, and how many events there were."""
    for objective in slo["objectives"]:
        for window in _windows(slo):
            bad, total = (objective[part].replace("$window", window) for part in ("bad", "total"))
            labels = {"slo": objective["name"]}
            # No bad series yet means no bad events; no events at all means no ratio.
            expr = f"(({bad}) or vector(0)) / ({total} > 0)"
            yield {"record": f"radrag:bad_ratio:{window}", "expr": expr, "labels": labels}
        yield {
            "record": "radrag:objective",
            "expr": f"vector({objective['objective']})",
            "labels": {"slo": objective["name"]},
        }


def burn_rates(slo: dict[str, Any]) -> Iterator[Rule]:
    """An alert per objective and pair of windows."""
    for objective in slo["objectives"]:
        for window in slo["windows"]:
            yield _burning(objective, window)


def _burning(objective: dict[str, Any], window: dict[str, Any]) -> Rule:
    name, most = objective["name"], round(window["rate"] * (1 - objective["objective"]), 6)
    parts = [f'radrag:bad_ratio:{window[size]}{{slo="{name}"}} > {most}' for size in ("long", "short")]
    total = objective["total"].replace("$window", window["long"])
    enough = f"on () ({total} * {_seconds(window['long'])}) >= {objective['least']}"
    said = f"{name} burns its budget {window['rate']} times too fast over {window['long']}"
    return _alert(
        {
            "alert": f"Radrag{_camel(name)}Burns",
            "expr": f"{parts[0]} and {parts[1]} and {enough}",
            "for": "2m",
            "severity": window["severity"],
            "runbook": objective["runbook"],
            "summary": f"{said} ({{{{ $value | humanizePercentage }}}} bad)",
            "labels": {"window": window["long"]},
        }
    )


def _alert(one: dict[str, Any]) -> Rule:
    return {
        "alert": one["alert"],
        "expr": one["expr"],
        "for": one["for"],
        "labels": {"severity": one["severity"], **one.get("labels", {})},
        "annotations": {"summary": one["summary"], "runbook": f"{RUNBOOKS}/{one['runbook']}.md"},
    }


def _windows(slo: dict[str, Any]) -> list[str]:
    sizes = {window[size] for window in slo["windows"] for size in ("long", "short")}
    return sorted(sizes, key=_seconds)


def _seconds(window: str) -> int:
    return int(window[:-1]) * {"m": 60, "h": 3600, "d": 86_400}[window[-1]]


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    for path in (RULES, CHART):
        path.write_text(written(), encoding="utf-8")
