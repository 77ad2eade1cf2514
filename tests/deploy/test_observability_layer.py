"""The layer's files fit together: what one names, another has; Prometheus takes its settings."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.places import ROOT
from radrag.settings import Settings
from tests.prometheus import promtool

DEPLOY = ROOT / "deploy"
LAYER = DEPLOY / "compose.observability.yaml"
FILES = sorted((DEPLOY / "observability").rglob("*.yaml"))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_every_file_the_layer_mounts_exists_and_is_only_read() -> None:
    for name, service in read(LAYER)["services"].items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists(), f"{name} mounts {source}"
                assert volume.endswith(":ro"), f"{name} may write {source}"


def test_images_have_versions_and_ports_are_this_hosts_only() -> None:
    for name, service in read(LAYER)["services"].items():
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"]), f"{name}: {service['image']}"
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name} is open to all: {port}"


def test_prometheus_takes_its_settings_with_the_rules(tmp_path: Path) -> None:
    settings = read(DEPLOY / "observability" / "prometheus.yaml")
    settings["rule_files"] = [str(DEPLOY / "observability" / "rules" / "*.yaml")]
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    assert "53 rules found" in promtool("check", "config", str(tmp_path / "prometheus.yaml"))


def test_the_jobs_are_those_that_rules_and_boards_go_by() -> None:
    jobs = {one["job_name"] for one in read(DEPLOY / "observability" / "prometheus.yaml")["scrape_configs"]}
    assert {"gateway", "retrieval", "ingest", "triton"} <= jobs


def test_the_collectors_pipeline_has_all_its_parts_and_keeps_the_failed_and_the_slow() -> None:
    collector = read(DEPLOY / "observability" / "collector.yaml")
    pipeline = collector["service"]["pipelines"]["traces"]
    for kind in ("receivers", "processors", "exporters"):
        assert set(pipeline[kind]) <= set(collector[kind]), kind
    policies = {one["name"]: one for one in collector["processors"]["tail_sampling"]["policies"]}
    assert policies["failed"]["status_code"]["status_codes"] == ["ERROR"]
    assert policies["slow"]["latency"]["threshold_ms"] == 5000
    longest = Settings()
    parts = (longest.embed_seconds, longest.search_seconds, longest.rerank_seconds, longest.generate_seconds)
    waits = int(collector["processors"]["tail_sampling"]["decision_wait"].removesuffix("s"))
    assert waits >= sum(parts) + 10, "decided before the slowest answers end"
    order = pipeline["processors"]
    assert order.index("attributes/no_text") < order.index("tail_sampling")


@pytest.mark.parametrize("path", [LAYER, *FILES], ids=lambda path: path.name)
def test_nothing_reports_home(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!tempo|prometheus|host\.docker)", text)
