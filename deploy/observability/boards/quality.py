"""What users get: answers, refusals, warnings, citations."""

from deploy.observability.panels import Board, Panel, Query
from deploy.observability.promql import ASKED, NOTHING_WRONG, WINDOW, quantile, rate, ratio

BOARD = Board(
    "quality",
    "quality for users",
    "What users get: answers, refusals, warnings, and whether citations stand up.",
    [
        (
            "Outcomes",
            [
                Panel(
                    "Answers by outcome",
                    [Query(rate("radrag_outcomes_total", "outcome"), "{{outcome}}")],
                    "ops",
                    stacked=True,
                ),
                Panel(
                    "Share refused",
                    [
                        Query(
                            f"{rate('radrag_outcomes_total', outcome='INSUFFICIENT_EVIDENCE|OUT_OF_SCOPE')}"
                            f" / {rate('radrag_outcomes_total')}",
                            "refused",
                        )
                    ],
                    "percentunit",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Share made without a part",
                    [
                        Query(
                            ratio(
                                rate("radrag_degraded_total", "what"),
                                f"sum(rate(radrag_requests_total{{{ASKED}}}[{WINDOW}]))",
                                "/ on () group_left ()",
                            ),
                            "without {{what}}",
                        )
                    ],
                    "percentunit",
                    silent=NOTHING_WRONG,
                    description="One reply may lack several parts.",
                ),
            ],
        ),
        (
            "Trust",
            [
                Panel(
                    "Citations that stand up",
                    [
                        Query(
                            ratio(
                                rate("radrag_citations_total", verified="true"),
                                rate("radrag_citations_total"),
                            ),
                            "verified",
                        )
                    ],
                    "percentunit",
                ),
                Panel(
                    "Unsupported sentences and other warnings",
                    [Query(rate("radrag_warnings_total", "kind"), "{{kind}}")],
                    "ops",
                    silent=NOTHING_WRONG,
                ),
                Panel(
                    "Best rerank score",
                    [
                        Query(quantile(0.1, "radrag_rerank_score"), "p10"),
                        Query(quantile(0.5, "radrag_rerank_score"), "p50"),
                        Query(quantile(0.9, "radrag_rerank_score"), "p90"),
                    ],
                    description="A drift means other questions, other documents, or another reranker.",
                ),
                Panel(
                    "Best rerank score against the day",
                    [
                        Query(
                            f"{quantile(0.5, 'radrag_rerank_score')} / "
                            "histogram_quantile(0.5, sum by (le) (rate(radrag_rerank_score_bucket[1d])))",
                            "now / day",
                        )
                    ],
                ),
                Panel(
                    "Length of answers, mean",
                    [
                        Query(
                            ratio(
                                rate("radrag_generated_tokens_total"),
                                rate("radrag_outcomes_total", outcome="ANSWERED"),
                            ),
                            "tokens",
                        )
                    ],
                ),
            ],
        ),
    ],
)
