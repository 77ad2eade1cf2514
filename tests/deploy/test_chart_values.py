"""Wrong values are refused before anything is installed, each by its name."""

import json
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from typing import Any

import jsonschema
import pytest
import yaml

from cli import chart_settings
from cli.places import ROOT
from tests.deploy import chart

CPU = ROOT / "deploy" / "helm" / "values" / "cpu.yaml"
VALUES = yaml.safe_load((chart.CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA = json.loads(chart_settings.SCHEMA.read_text(encoding="utf-8"))
# Mappings whose keys are the operator's own.
FREE = {"digests", "annotations", "nodeSelector", "allowNamespaces", "namespaceLabels", "labels", "sources",
        "requests", "limits"}  # fmt: skip

WRONG = {
    "gateway.replicas=0": "gateway.replicas",
    "gateway.autoscaling.kind=vpa": "gateway.autoscaling.kind",
    "store.kind=milvus": "store.kind",
    "models.embedder.port=80": "models.embedder.port",
    "models.generator.autoscaling.signal=cpu": "models.generator.autoscaling.signal",
    "models.generator.template=llama": "models.generator.template",
    "models.reranker.shmSize=lots": "models.reranker.shmSize",
    "models.reranker.gpu.resource=gpu": "models.reranker.gpu.resource",
    "image.digests.gateway=latest": "image.digests.gateway",
    "monitoring.prometheusUrl=prometheus:9090": "monitoring.prometheusUrl",
    "env.HTTP_PROXY=x": "env",
    "jobs.watch.schedule=daily": "jobs.watch.schedule",
    "gatway.replicas=2": "gatway",
}


@pytest.mark.parametrize(("given", "named"), WRONG.items())
def test_a_wrong_value_is_refused_by_its_name(given: str, named: str) -> None:
    done = chart.template("--values", str(CPU), "--set", given)
    assert done.returncode != 0
    assert named in done.stderr.replace("/", ".")


DISAGREEING = {
    "access.callersSecret=": "access.callersSecret or access.jwt.issuer is required",
    "access.credentialSecret=": "access.credentialSecret is required",
    "tls.terminated=false": "tls.secret, tls.certManager.enabled or tls.terminated is required",
    "retrieval.replicas=2": "retrieval.replicas above 1 needs store.kind server",
    "ingest.replicas=2": "ingest.replicas above 1 needs store.catalogueSecret",
    "store.kind=server": "store.qdrant.url is required",
    "models.reranker.enabled=false": "models.reranker.url is required",
    "models.embedder.weights.folder=frida": "models.embedder.weights.folder needs weights.claim",
    "models.embedder.autoscaling.kind=keda": "models.embedder.autoscaling.kind keda needs",
    "gateway.autoscaling.kind=keda": "gateway.autoscaling.kind keda needs monitoring.prometheusUrl",
    "gateway.autoscaling.min=11": "gateway.autoscaling.min is above its max",
    "models.embedder.autoscaling.kind=hpa": "models.embedder.autoscaling.signal queueRatio needs kind keda",
    "models.reranker.autoscaling.signal=streams": "models.reranker.autoscaling.signal streams is the",
    "models.generator.image=generator-gpu,models.generator.autoscaling.kind=hpa,"
    "models.generator.autoscaling.signal=pending": "models.generator.autoscaling.signal must be streams",
}


@pytest.mark.parametrize(("given", "said"), DISAGREEING.items())
def test_values_that_disagree_are_refused_in_words(given: str, said: str) -> None:
    done = chart.template("--values", str(CPU), "--set", given)
    assert done.returncode != 0
    assert said in done.stderr


def mappings(values: dict[str, Any], above: str = "") -> Iterator[str]:
    """The path of every mapping of the values whose keys are the chart's."""
    for name, one in values.items():
        if isinstance(one, dict) and name not in FREE:
            yield above + name
            yield from mappings(one, f"{above}{name}.")


def refused(path: str) -> list[str]:
    """What the schema says of the chart's own values when a key is added at a path."""
    values = json.loads(json.dumps(VALUES))  # the roles' defaults are one mapping in YAML
    *above, name = path.split(".")
    reduce(getitem, above, values)[name] = "x"
    return [one.message for one in jsonschema.Draft7Validator(SCHEMA).iter_errors(values)]


@pytest.mark.parametrize("path", ["misspelt", *(f"{one}.misspelt" for one in mappings(VALUES))])
def test_a_misspelt_key_is_refused_wherever_it_stands(path: str) -> None:
    (line,) = refused(path)
    assert "'misspelt'" in line


def test_env_takes_the_settings_that_no_other_value_says() -> None:
    text = chart_settings.SCHEMA.read_text(encoding="utf-8")
    assert text == chart_settings.written(text), "run `make tree`"
    named = {name for _, pod in chart.pods(CPU) for one in pod["containers"] for name in chart.environ(one)}
    assert not named & set(chart_settings.names()), "said by the chart itself"


@pytest.mark.parametrize("name", ["RADRAG_TOPIX", "RADRAG_STORE", "HTTP_PROXY"])
@pytest.mark.parametrize("place", ["env", "gateway.env", "retrieval.env", "ingest.env"])
def test_a_variable_that_is_no_setting_or_is_said_elsewhere_is_refused(place: str, name: str) -> None:
    (line,) = refused(f"{place}.{name}")
    assert f"'{name}'" in line
    assert refused(f"{place}.RADRAG_FUSION") == refused(f"{place}.OTEL_TRACES_SAMPLER") == []


@pytest.mark.parametrize("role", ["gateway", "retrieval", "ingest"])
def test_a_changed_setting_rolls_the_pods_that_read_it_and_no_others(role: str) -> None:
    """Settings are in the pod's template itself: no ConfigMap can change behind it."""
    after = {
        one["metadata"]["name"]: one["spec"]["template"]
        for one in rendered(f"{role}.env.OTEL_TRACES_SAMPLER=always_off")
        if one["kind"] == "Deployment"
    }
    before = {name: one["spec"]["template"] for name, one in chart.of_kind(CPU, "Deployment").items()}
    assert [name for name in before if before[name] != after[name]] == [f"radrag-{role}"]
    for _, pod in chart.pods(CPU):
        assert not [one for one in pod["volumes"] if "configMap" in one]
        assert not [one for one in pod["containers"] if "envFrom" in one]


def rendered(given: str) -> list[dict[str, Any]]:
    """The objects of the CPU values with some set."""
    done = chart.template("--values", str(CPU), "--set", given)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


@pytest.mark.parametrize(
    ("ray", "image", "more"),
    [("", "ingest", []), ("ray://head:10001", "ingest-ray", ["--ray", "ray://head:10001"])],
)
def test_bulk_reading_on_a_ray_cluster_is_its_address(ray: str, image: str, more: list[str]) -> None:
    found = rendered(f"jobs.ingest.enabled=true,jobs.ingest.claim=documents,jobs.ingest.ray={ray}")
    (job,) = [one for one in found if one["kind"] == "Job"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert f"/{image}:" in container["image"]
    assert container["args"][5:] == more
    (ways,) = [
        one for one in found if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == "radrag-job"
    ]
    ports = {port["port"] for rule in ways["spec"]["egress"] for port in rule.get("ports", [])}
    assert (10001 in ports) is bool(ray)


def test_the_token_of_a_ray_cluster_comes_from_its_secret() -> None:
    cluster = "jobs.ingest.enabled=true,jobs.ingest.claim=documents,jobs.ingest.ray=ray://head:10001"
    (job,) = [one for one in rendered(f"{cluster},jobs.ingest.raySecret=mine") if one["kind"] == "Job"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    env = {one["name"]: one for one in container["env"]}
    assert env["RAY_AUTH_MODE"]["value"] == "token"
    assert env["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"] == {"name": "mine", "key": "token"}
    assert "RAY_AUTH" not in str(rendered(cluster))
