"""Every metric by name, the processes that serve it, and the page they are read from.

The names are a contract with dashboards and alert rules. Latencies are measured here, at the client side of
Triton: its own request duration is wrong for decoupled models that answer from threads.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from io import StringIO
from platform import python_version
from typing import TypeVar
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, start_http_server
from prometheus_client.metrics import MetricWrapperBase

# A stage takes a millisecond (scope, prompt) to two minutes (generate); a parse may take ten.
SECONDS = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
)  # fmt: skip
TOKEN_SECONDS = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 40.0)
INGEST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
LAG_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

M = TypeVar("M", bound=MetricWrapperBase)


@cache
def child(metric: M, *labels: str) -> M:
    """`metric.labels(*labels)`, looked up once. For labels that are named in our code: there are few."""
    return metric.labels(*labels)


REQUESTS = Counter(
    "radrag_requests", "Calls ended, by method and gRPC code; a stream that failed has its failure's code.",
    ["method", "code"],
)  # fmt: skip
REQUEST_DURATION = Histogram(
    "radrag_request_duration_seconds", "Time from a call's arrival to its end.", ["method"], buckets=SECONDS
)
STAGE_DURATION = Histogram(
    "radrag_stage_duration_seconds", "Time one stage took.", ["stage", "outcome"], buckets=SECONDS
)
TIME_TO_FIRST_TOKEN = Histogram(
    "radrag_time_to_first_token_seconds",
    "Time from a call's start to the first token: from the model, and checked to the caller.",
    ["at"],
    buckets=TOKEN_SECONDS,
)
GENERATED_TOKENS = Counter("radrag_generated_tokens", "Tokens the generator wrote, by its own count.")
IN_FLIGHT = Gauge("radrag_requests_in_flight", "Calls running now.", ["method"])
REJECTED = Counter(
    "radrag_rejected", "Calls refused for want of room: here, or by a model's queue.", ["reason"]
)
OUTCOMES = Counter(
    "radrag_outcomes", "Answers by outcome; FAILED when there was none, or it broke off.", ["outcome"]
)
DEGRADED = Counter("radrag_degraded", "Replies for which a part was missing.", ["what"])
WARNINGS = Counter("radrag_warnings", "Warnings in replies, by kind.", ["kind"])
CITATIONS = Counter("radrag_citations", "Citations by result of their check.", ["verified"])
TRUNCATIONS = Counter("radrag_truncations", "Texts a model had to cut.", ["model"])
RERANK_SCORE = Histogram(
    "radrag_rerank_score", "Best rerank score of a question.", buckets=tuple(n / 20 for n in range(1, 21))
)
INDEX_POINTS = Gauge("radrag_index_points", "Live points in the index.", ["topic", "level"])
INDEX_DOCUMENTS = Gauge("radrag_index_documents", "Documents that are live in the index.")
DOCUMENTS = Gauge("radrag_documents", "Document versions by state.", ["state"])
DOCUMENTS_EXPIRING = Gauge(
    "radrag_documents_expiring", "Published documents whose last day is at most so many days ahead.", ["days"]
)
INGEST_STAGE_DURATION = Histogram(
    "radrag_ingest_stage_duration_seconds",
    "Time one stage of the corpus path took for one document.",
    ["stage", "outcome"],
    buckets=INGEST_SECONDS,
)
INGEST_PAGES = Counter("radrag_ingest_pages", "Pages read, by the engine that read them.", ["engine"])
INGEST_PAGE_REASONS = Counter(
    "radrag_ingest_page_reasons",
    "Pages whose own text was not trusted or whose OCR failed, by why; a page may have several.",
    ["reason"],
)
INGEST_READER_BYTES = Gauge(
    "radrag_ingest_reader_resident_bytes",
    "What the child processes that read files held, when last looked at.",
)
AUDIT_RECORDS = Counter(
    "radrag_audit_records", "Audit records, by whether they could be written.", ["result"]
)
EVENT_LOOP_LAG = Histogram(
    "radrag_event_loop_lag_seconds", "How much too late the event loop woke a sleeper.", buckets=LAG_SECONDS
)
CERTIFICATE_EXPIRY = Gauge(
    "radrag_certificate_expiry_timestamp_seconds",
    "When the certificate ends that the next caller is shown, or one of its chain; none without TLS.",
    ["listener"],
)
BUILD_INFO = Gauge("radrag_build_info", "1, with what is running as labels.", ["version", "python"])
MODEL_INFO = Gauge(
    "radrag_model_info", "1 for the model behind each role, as its server names it.",
    ["role", "model", "weights_sha256"],
)  # fmt: skip

EVERYWHERE = (REQUESTS, REQUEST_DURATION, IN_FLIGHT, REJECTED, EVENT_LOOP_LAG, BUILD_INFO, CERTIFICATE_EXPIRY)
PROCESSES: Mapping[str, tuple[MetricWrapperBase, ...]] = {
    "gateway": (
        *EVERYWHERE, STAGE_DURATION, TIME_TO_FIRST_TOKEN, GENERATED_TOKENS, OUTCOMES, DEGRADED, WARNINGS,
        CITATIONS, TRUNCATIONS, RERANK_SCORE, MODEL_INFO, AUDIT_RECORDS,
    ),
    "retrieval": (*EVERYWHERE, STAGE_DURATION, INDEX_POINTS, INDEX_DOCUMENTS),
    "ingest": (
        *EVERYWHERE, DOCUMENTS, DOCUMENTS_EXPIRING, INGEST_STAGE_DURATION, INGEST_PAGES, INGEST_PAGE_REASONS,
        INGEST_READER_BYTES, TRUNCATIONS, AUDIT_RECORDS,
    ),
}  # fmt: skip
ALL = tuple(dict.fromkeys(metric for metrics in PROCESSES.values() for metric in metrics))


# Counters are there before anything is counted: one that is born with its first event hides that event from
# every rate, and an alert on the first failure would need a second one.
FROM_THE_START: Mapping[MetricWrapperBase, tuple[str, ...]] = {
    AUDIT_RECORDS: ("written", "failed"),
    CITATIONS: ("true", "false"),
    DEGRADED: ("embedder", "reranker", "generator", "scope", "dense", "bm25"),
    OUTCOMES: ("ANSWERED", "INSUFFICIENT_EVIDENCE", "OUT_OF_SCOPE", "FAILED"),
    REJECTED: ("in_flight", "deadline", "rate", "quota", "model_queue"),
}
CODES = ("OK", "UNKNOWN", "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "DATA_LOSS", "RESOURCE_EXHAUSTED")


@cache
def expect(method: str) -> None:
    """Has a method's failures counted from 0: call it when the method is called."""
    for code in CODES:
        REQUESTS.labels(method, code)


def keep_only(process: str, version: str) -> None:
    """Leaves the named process's metrics on its page: one that it never sets would read as a quiet zero."""
    for metric in ALL:
        if metric not in PROCESSES[process]:
            REGISTRY.unregister(metric)
    for metric, values in FROM_THE_START.items():
        if metric in PROCESSES[process]:
            for value in values:
                metric.labels(value)
    BUILD_INFO.labels(version, python_version()).set(1)


class Reader(WSGIRequestHandler):
    """One reader of the page. Who says nothing, or reads nothing, for `timeout` seconds holds no thread."""

    timeout = 10

    def handle(self) -> None:
        """Answers. A reader that is gone, as a scrape that took too long, is no error of ours."""
        with suppress(OSError):
            super().handle()

    def log_message(self, *_: object) -> None:
        """Says nothing of a scrape."""

    def get_stderr(self) -> StringIO:
        """Where the server would write tracebacks: standard error is for lines of ours."""
        return StringIO()


def serve_metrics(host: str, port: int) -> Callable[[], None]:
    """Serves /metrics from a thread of its own, so that load never hides it. Returns what stops it.

    Who accepts OpenMetrics gets it, with exemplars: the trace id of a recent call in each bucket.
    """
    server, thread = start_http_server(port, addr=host)
    server.RequestHandlerClass = Reader

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
