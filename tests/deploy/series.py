"""Time series for rule tests: a healthy service by the minute, and what a test changes of it."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from deploy.observability import rules
from tests.prometheus import promtool

MINUTES = 100
Series = Mapping[str, str]
ASSISTANT = "radrag.assistant.v1.AssistantService"


def counting(per_minute: float, minutes: int = MINUTES) -> str:
    """A counter that grows evenly."""
    return f"0+{per_minute}x{minutes}"


def constant(value: float, minutes: int = MINUTES) -> str:
    return f"{value}+0x{minutes}"


def histogram(name: str, labels: str, seconds: float, bounds: tuple[float, ...], per_minute: float) -> Series:
    """A histogram all of whose samples are of one size."""
    of = f"{labels}," if labels else ""
    buckets = {
        f'{name}_bucket{{{of}le="{bound}"}}': counting(per_minute if seconds <= bound else 0)
        for bound in bounds
    }
    return buckets | {
        f'{name}_bucket{{{of}le="+Inf"}}': counting(per_minute),
        f"{name}_count{{{labels}}}": counting(per_minute),
    }


def requests(method: str, code: str, per_minute: float) -> Series:
    return {
        f'radrag_requests_total{{job="gateway",method="{ASSISTANT}/{method}",code="{code}"}}': counting(
            per_minute
        )
    }


def search_times(seconds: float) -> Series:
    labels = f'method="{ASSISTANT}/Search"'
    return histogram("radrag_request_duration_seconds", labels, seconds, (0.5, 1.0, 2.5, 5.0, 10.0), 60)


def first_tokens(at: str, seconds: float, per_minute: float = 60) -> Series:
    bounds = (1.0, 2.5, 5.0, 10.0, 20.0)
    return histogram("radrag_time_to_first_token_seconds", f'at="{at}"', seconds, bounds, per_minute)


def stage(name: str, seconds: float, per_minute: float = 60) -> Series:
    bounds = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
    labels = f'stage="{name}",outcome="ok"'
    return histogram("radrag_stage_duration_seconds", labels, seconds, bounds, per_minute)


def event_loop_lag(seconds: float) -> Series:
    labels = 'job="gateway",instance="gateway:1"'
    return histogram("radrag_event_loop_lag_seconds", labels, seconds, (0.01, 0.5, 1.0), 240)


CERTIFICATE = (
    'radrag_certificate_expiry_timestamp_seconds{job="gateway",instance="gateway:1",listener="grpc"}'
)
PROBED = 'probe_ssl_earliest_cert_expiry{job="certificates",instance="radrag.example:443"}'
OTHER_PROCESSES: Series = {
    **{f'up{{job="{job}",instance="{job}:1"}}': constant(1) for job in ("retrieval", "ingest", "triton")},
    'radrag_documents{state="published"}': constant(42),
    'radrag_documents{state="expired"}': constant(0),
    'radrag_documents{state="in_review"}': constant(3),
    "radrag_index_documents": constant(42),
    'radrag_documents_expiring{days="30"}': constant(0),
    'nv_inference_pending_request_count{model="extractive",version="1"}': constant(1),
    CERTIFICATE: constant(90 * 86_400),
    PROBED: constant(90 * 86_400),
}
GATEWAY: Series = {
    'up{job="gateway",instance="gateway:1"}': constant(1),
    'radrag_audit_records_total{job="gateway",instance="gateway:1",result="written"}': counting(60),
    'radrag_citations_total{verified="true"}': counting(60),
    'radrag_model_info{role="embedder",model="e5_small"}': constant(1),
    **requests("Search", "OK", 60),
    **requests("GenerateStream", "OK", 60),
    **search_times(0.3),
    **first_tokens("caller", 0.9),
    **first_tokens("model", 0.9),
    **stage("embed", 0.05),
    **stage("rerank", 0.4),
    **stage("generate", 1.0),
    **histogram("radrag_rerank_score", "", 0.8, (0.2, 0.4, 0.6, 0.8, 1.0), 60),
    **histogram(
        "radrag_event_loop_lag_seconds", 'job="gateway",instance="g:1"', 0.005, (0.01, 0.5, 1.0), 240
    ),
}
HEALTHY: Series = {**OTHER_PROCESSES, **GATEWAY}


def fire(
    folder: Path, series: Series, expected: Mapping[str, int], minutes: int = MINUTES, every: int = 2
) -> None:
    """Asserts which alerts fire after so many minutes of these series, how many of each, and no others.

    The rules are evaluated `every` so many minutes: more often costs time and shows nothing else.
    """
    case = {
        "rule_files": [str(rules.RULES)],
        "evaluation_interval": f"{every}m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                        "eval_time": f"{minutes}m",
                        "exp_samples": [
                            {"labels": f'{{alertname="{name}"}}', "value": count}
                            for name, count in expected.items()
                        ],
                    }
                ],
            }
        ],
    }
    file = folder / "case.yaml"
    file.write_text(yaml.safe_dump(case))
    promtool("test", "rules", str(file))
