"""Where an answer's time goes, and which stage fails."""

from deploy.observability.panels import Board, Panel, Query
from deploy.observability.promql import NOTHING_WRONG, WINDOW, quantile, rate, ratio

SPENT = "radrag_stage_duration_seconds_sum"

BOARD = Board(
    "answer-path",
    "answer path by stage",
    "Where an answer's time goes, and which stage fails.",
    [
        (
            "Time",
            [
                Panel(
                    "Half of the calls",
                    [
                        Query(
                            quantile(0.5, "radrag_stage_duration_seconds", "stage", stage="[a-z]+"),
                            "{{stage}}",
                        )
                    ],
                    "s",
                ),
                Panel(
                    "p95",
                    [
                        Query(
                            quantile(0.95, "radrag_stage_duration_seconds", "stage", stage="[a-z]+"),
                            "{{stage}}",
                        )
                    ],
                    "s",
                ),
                Panel(
                    "p99",
                    [
                        Query(
                            quantile(0.99, "radrag_stage_duration_seconds", "stage", stage="[a-z]+"),
                            "{{stage}}",
                        )
                    ],
                    "s",
                ),
                Panel(
                    "Share of all stages' time",
                    [
                        Query(
                            ratio(
                                rate(SPENT, "stage", job="gateway", stage="[a-z]+"),
                                rate(SPENT, job="gateway", stage="[a-z]+"),
                                "/ on () group_left ()",
                            ),
                            "{{stage}}",
                        )
                    ],
                    "percentunit",
                    stacked=True,
                    width=12,
                    description="Verify runs while generate writes: their times overlap.",
                ),
                Panel(
                    "Legs of the search, p95",
                    [
                        Query(
                            quantile(0.95, "radrag_stage_duration_seconds", "stage", job="retrieval"),
                            "{{stage}}",
                        )
                    ],
                    "s",
                    width=12,
                    description="topic.leg:language",
                ),
            ],
        ),
        (
            "Trouble",
            [
                Panel(
                    "Stages that did not end well",
                    [
                        Query(
                            "sum by (stage, outcome) "
                            f'(rate(radrag_stage_duration_seconds_count{{outcome!="ok"}}[{WINDOW}]))',
                            "{{stage}} {{outcome}}",
                        )
                    ],
                    "ops",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Replies without a part",
                    [Query(f"{rate('radrag_degraded_total', 'what')} > 0", "{{what}}")],
                    "ops",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Refused for want of room",
                    [Query(f"{rate('radrag_rejected_total', 'job, reason')} > 0", "{{job}} {{reason}}")],
                    "ops",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Event loop: woken too late, p99",
                    [Query(quantile(0.99, "radrag_event_loop_lag_seconds", "job"), "{{job}}")],
                    "s",
                ),
                Panel(
                    "CPU",
                    [
                        Query(
                            f"sum by (job, instance) (rate(process_cpu_seconds_total[{WINDOW}]))",
                            "{{job}} {{instance}}",
                        )
                    ],
                ),
                Panel(
                    "Memory",
                    [Query("sum by (job, instance) (process_resident_memory_bytes)", "{{job}} {{instance}}")],
                    "bytes",
                ),
            ],
        ),
    ],
)
