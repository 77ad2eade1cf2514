"""What the knowledge base holds, and how documents come into it."""

from deploy.observability.panels import Board, Panel, Query
from deploy.observability.promql import quantile, rate

BOARD = Board(
    "knowledge",
    "index and ingestion",
    "What the knowledge base holds, and how documents come into it.",
    [
        (
            "Index",
            [
                Panel(
                    "Live children by topic",
                    [Query('max by (topic) (radrag_index_points{level="child"})', "{{topic}}")],
                    kind="bargauge",
                ),
                Panel(
                    "Live parents by topic",
                    [Query('max by (topic) (radrag_index_points{level="parent"})', "{{topic}}")],
                    kind="bargauge",
                ),
                Panel(
                    "Catalogue and index",
                    [
                        Query(
                            'sum(max by (state) (radrag_documents{state=~"published|expired"}))', "catalogue"
                        ),
                        Query("max(radrag_index_documents)", "index"),
                    ],
                    description="Must be equal.",
                ),
            ],
        ),
        (
            "Documents",
            [
                Panel(
                    "Versions by state",
                    [Query("max by (state) (radrag_documents)", "{{state}}")],
                    kind="bargauge",
                ),
                Panel(
                    "Waiting for an expert", [Query('max(radrag_documents{state="in_review"})', "in review")]
                ),
                Panel(
                    "Come to their last day",
                    [Query("max by (days) (radrag_documents_expiring)", "within {{days}} days")],
                ),
                Panel(
                    "Time per document and stage, p95",
                    [Query(quantile(0.95, "radrag_ingest_stage_duration_seconds", "stage"), "{{stage}}")],
                    "s",
                    width=12,
                    silent="no document was read by the service of late",
                ),
                Panel(
                    "Documents through each stage",
                    [
                        Query(
                            rate("radrag_ingest_stage_duration_seconds_count", "stage, outcome"),
                            "{{stage}} {{outcome}}",
                        )
                    ],
                    "ops",
                    width=12,
                    silent="no document was read by the service of late",
                ),
            ],
        ),
        (
            "Curators",
            [
                Panel(
                    "Curators' calls",
                    [
                        Query(
                            rate("radrag_requests_total", "method, code", method=".*KnowledgeService.*"),
                            "{{method}} {{code}}",
                        )
                    ],
                    "ops",
                    width=12,
                    silent="no curator has called",
                ),
                Panel(
                    "Audit records",
                    [Query(rate("radrag_audit_records_total", "job, result"), "{{job}} {{result}}")],
                    "ops",
                    width=12,
                ),
            ],
        ),
    ],
)
