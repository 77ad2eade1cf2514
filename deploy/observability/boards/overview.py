"""Is it well, and is it fast enough: objectives, burn rates, alerts, traffic."""

from deploy.observability.panels import Board, Panel, Query
from deploy.observability.promql import ASKED, BAD, NOTHING_WRONG, WINDOW, burn, quantiles, rate

BOARD = Board(
    "overview",
    "overview",
    "Is it well, and is it fast enough: objectives and how fast their budgets burn.",
    [
        (
            "Objectives",
            [
                Panel(
                    "Bad share of events over 6 hours",
                    [Query("radrag:bad_ratio:6h", "{{slo}}")],
                    "percentunit",
                    "stat",
                    description="Objectives: deploy/observability/slo.yaml.",
                    limits=(0.005, 0.05),
                ),
                Panel(
                    "Burn rate, fast",
                    [burn("5m"), burn("1h")],
                    description="Above 14.4 on both somebody is paged.",
                ),
                Panel(
                    "Burn rate, slow",
                    [burn("30m"), burn("6h")],
                    description="Above 6 on both somebody is paged.",
                ),
                Panel(
                    "Alerts firing",
                    [Query('count by (alertname, severity) (ALERTS{alertstate="firing"})')],
                    kind="table",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Processes",
                    [Query('up{job=~"gateway|retrieval|ingest|triton"}', "{{job}} {{instance}}")],
                    kind="stat",
                    description="1: its metrics can be read.",
                ),
                Panel(
                    "What runs",
                    [
                        Query("max by (job, version, python) (radrag_build_info)"),
                        Query("max by (role, model, weights_sha256) (radrag_model_info)"),
                    ],
                    kind="table",
                ),
            ],
        ),
        (
            "Traffic",
            [
                Panel(
                    "Calls",
                    [
                        Query(
                            rate("radrag_requests_total", "method", method=".*AssistantService.*"),
                            "{{method}}",
                        )
                    ],
                    "reqps",
                    stacked=True,
                ),
                Panel(
                    "Calls that failed",
                    [
                        Query(
                            "sum by (method, code) "
                            f"(rate(radrag_requests_total{{{ASKED},{BAD}}}[{WINDOW}])) > 0",
                            "{{method}} {{code}}",
                        )
                    ],
                    "reqps",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Calls running", [Query("sum by (job, method) (radrag_requests_in_flight)", "{{method}}")]
                ),
                Panel(
                    "Time of a whole call",
                    quantiles(
                        "radrag_request_duration_seconds",
                        "{{method}}",
                        "method",
                        method=".*AssistantService.*",
                    ),
                    "s",
                    width=12,
                ),
                Panel(
                    "First token",
                    quantiles("radrag_time_to_first_token_seconds", "{{at}}", "at"),
                    "s",
                    width=12,
                    description="From the model, and checked to the caller; tokens, not frames.",
                ),
            ],
        ),
    ],
)
