"""What scales each role: a signal that is right for it, from a series that somebody serves."""

import re

import pytest
import yaml

from cli.places import ROOT
from deploy.observability import dashboards
from tests.deploy import chart

GPU = ROOT / "deploy" / "helm" / "values" / "gpu.yaml"


def test_the_generators_scaler_does_not_look_at_a_queue_that_vllm_has_not() -> None:
    queries = {
        name: one["spec"]["triggers"][0]["metadata"]["query"]
        for name, one in chart.of_kind(GPU, "ScaledObject").items()
    }
    assert "nv_inference" not in queries["radrag-generator"]
    assert "nv_inference_queue_duration_us" in queries["radrag-embedder"]
    assert "nv_inference_pending_request_count" in queries["radrag-reranker"]


def tritons() -> set[str]:
    """Triton's metrics on the boards: test_watched.py finds each of them on a real server's page.

    Those of GPUs are not among them: that server has none. What scales should be seen on a board anyhow.
    """
    asked = (query.expr for board in dashboards.BOARDS for panel in board.panels for query in panel.queries)
    return set(re.findall(r"\bnv_inference_\w+", " ".join(asked)))


def served(query: str) -> None:
    """Fails for a query that names no series, or one that neither Triton nor our telemetry has."""
    ours = "".join(path.read_text() for path in (ROOT / "radrag" / "telemetry").glob("*.py"))
    asked = re.findall(r"\b((?:radrag|nv)_\w+)", query)
    assert asked, f"{query} asks for nothing that is known"
    for metric in asked:
        assert metric in tritons() or f'"{metric}"' in ours, metric


def test_a_series_that_nobody_serves_is_noticed() -> None:
    for query in ("nv_inference_queue_time_us", "nv_gpu_utilization", "radrag_streams", "up"):
        with pytest.raises(AssertionError):
            served(f"sum({query})")


def test_every_metric_that_keda_asks_for_is_one_that_is_served() -> None:
    for one in chart.of_kind(GPU, "ScaledObject").values():
        served(one["spec"]["triggers"][0]["metadata"]["query"])


def test_every_metric_of_a_plain_autoscaler_is_one_that_the_adapters_rules_make() -> None:
    said = yaml.safe_load((ROOT / "deploy" / "helm" / "adapter.values.yaml").read_text())["rules"]
    made = {
        kind: {rule["name"]["as"] for rule in said[part]}
        for kind, part in (("pods", "custom"), ("external", "external"))
    }
    asked: dict[str, set[str]] = {"pods": set(), "external": set()}
    for values in chart.VALUES:
        for one in chart.of_kind(values, "HorizontalPodAutoscaler").values():
            for metric in one["spec"]["metrics"]:
                for kind in asked.keys() & metric.keys():
                    asked[kind].add(metric[kind]["metric"]["name"])
    assert asked == made
    for rule in said["custom"] + said["external"]:
        served(rule["seriesQuery"])
