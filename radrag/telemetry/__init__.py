"""The one door to OpenTelemetry, prometheus_client and structlog: stages, metrics, trace context, logs.

Nothing here sees question, answer or document text.
"""

import resource
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version_of

from opentelemetry.trace import Span

from radrag.telemetry import logs
from radrag.telemetry.lag import watch_event_loop
from radrag.telemetry.metrics import (
    AUDIT_RECORDS,
    CERTIFICATE_EXPIRY,
    CITATIONS,
    DEGRADED,
    DOCUMENTS,
    DOCUMENTS_EXPIRING,
    GENERATED_TOKENS,
    IN_FLIGHT,
    INDEX_DOCUMENTS,
    INDEX_POINTS,
    INGEST_PAGE_REASONS,
    INGEST_PAGES,
    INGEST_READER_BYTES,
    INGEST_STAGE_DURATION,
    MODEL_INFO,
    OUTCOMES,
    REJECTED,
    REQUEST_DURATION,
    REQUESTS,
    RERANK_SCORE,
    STAGE_DURATION,
    TIME_TO_FIRST_TOKEN,
    TRUNCATIONS,
    WARNINGS,
    child,
    expect,
    keep_only,
    serve_metrics,
)
from radrag.telemetry.stages import Recording, StageTime, record_stages, recorded, traced
from radrag.telemetry.traces import (
    activate,
    end_call,
    exemplar,
    export_spans,
    propagated,
    server_span,
    trace_id,
)

__all__ = [
    "AUDIT_RECORDS",
    "CERTIFICATE_EXPIRY",
    "CITATIONS",
    "DEGRADED",
    "DOCUMENTS",
    "DOCUMENTS_EXPIRING",
    "GENERATED_TOKENS",
    "INDEX_DOCUMENTS",
    "INDEX_POINTS",
    "INGEST_PAGES",
    "INGEST_PAGE_REASONS",
    "INGEST_READER_BYTES",
    "INGEST_STAGE_DURATION",
    "IN_FLIGHT",
    "MODEL_INFO",
    "OUTCOMES",
    "REJECTED",
    "REQUESTS",
    "REQUEST_DURATION",
    "RERANK_SCORE",
    "STAGE_DURATION",
    "TIME_TO_FIRST_TOKEN",
    "TRUNCATIONS",
    "WARNINGS",
    "Recording",
    "Span",
    "StageTime",
    "activate",
    "child",
    "configure",
    "end_call",
    "exemplar",
    "expect",
    "propagated",
    "record_stages",
    "recorded",
    "serve_metrics",
    "server_span",
    "trace_id",
    "traced",
    "version",
    "watch_event_loop",
]


def configure(process: str, log_format: str = "auto") -> None:
    """Sets up logs, spans and metrics of a process, once, before it serves; from then on it leaves no core.

    Raises ValueError for a log format other than auto, json, pretty.
    """
    # A core file would hold what the process was asked.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    logs.configure(process, log_format)
    export_spans(process, version())
    keep_only(process, version())


def version() -> str:
    """The program's version; 0 where it is not installed."""
    try:
        return _version_of("radrag")
    except PackageNotFoundError:
        return "0"
