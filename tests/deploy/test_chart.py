"""The Helm chart: every set of values renders to valid objects that fit program, images and each other."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from cli.places import ROOT
from radrag.settings import Settings
from tests.deploy import chart, custom_resources, dockerfile

KUBERNETES = ("1.27", "1.31")
GOLDEN = Path(__file__).parent / "golden"
IMAGES = dockerfile.read(ROOT / "deploy" / "Dockerfile")
GPU, CPU = (ROOT / "deploy" / "helm" / "values" / f"{name}.yaml" for name in ("gpu", "cpu"))
NAMED = pytest.mark.parametrize("values", chart.VALUES, ids=lambda path: path.stem)


def test_there_are_six_sets_of_values() -> None:
    wanted = {"cpu", "gpu", "external-qdrant", "mig", "no-operators", "air-gapped"}
    assert {path.stem for path in chart.VALUES} == wanted


@NAMED
@pytest.mark.parametrize("version", KUBERNETES)
def test_every_object_is_valid(values: Path, version: str) -> None:
    found = chart.objects(values)
    for one in found:
        if one["kind"] in custom_resources.MODELS:
            jsonschema.validate(one, custom_resources.schema(one["kind"]))
        else:
            kubernetes_validate.validate(one, version, strict=True)
    names = [(one["kind"], one["metadata"]["name"]) for one in found]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", custom_resources.MODELS)
def test_a_field_that_an_operator_does_not_know_is_noticed(kind: str) -> None:
    one = next(iter(chart.of_kind(GPU, kind).values()))
    schema = custom_resources.schema(kind)
    jsonschema.validate(one, schema)
    with pytest.raises(jsonschema.ValidationError, match="'wrong' was unexpected"):
        jsonschema.validate(one | {"spec": one["spec"] | {"wrong": 1}}, schema)


def test_helm_finds_nothing_to_object_to() -> None:
    done = chart.helm("lint", "--strict", "--quiet", str(chart.CHART), "--values", str(GPU))
    assert done.returncode == 0, done.stdout


@NAMED
def test_the_chart_renders_to_what_was_looked_at(values: Path) -> None:
    """After a change that was meant: RADRAG_TEST_RENEW=1 writes the snapshots anew; read their diff.

    Prometheus' rules are no part of them: that they are those of their file is a test of its own.
    """
    golden = GOLDEN / f"{values.stem}.yaml"
    rules = (chart.CHART / "files" / "radrag.rules.yaml").read_text(encoding="utf-8").rstrip()
    text = chart.text(values).replace("\n  " + rules.replace("\n", "\n  "), "\n  # files/radrag.rules.yaml")
    if os.environ.get("RADRAG_TEST_RENEW"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), f"{golden.name}: RADRAG_TEST_RENEW=1?"


@NAMED
def test_every_variable_is_a_setting_and_every_image_a_target(values: Path) -> None:
    for name, pod in chart.pods(values):
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            given = {key: one for key, one in chart.environ(container).items() if key.startswith("RADRAG_")}
            Settings.from_environ(given)
            image = re.split(r"[:@]", container["image"].rsplit("/", 1)[1])[0]
            assert image in IMAGES.stages, name


def outside(values: Path) -> set[str]:
    """The addresses of model servers that a set of values leaves to others."""
    models = yaml.safe_load(values.read_text(encoding="utf-8")).get("models", {})
    return {one["url"] for one in models.values() if not one.get("enabled", True)}


def dialled(values: Path) -> Iterator[tuple[str, str, str]]:
    """Who dials, by which variable, what; less where a pod listens itself, and what is outside."""
    own = re.compile(r"RADRAG_(EMBEDDER|RERANKER|GENERATOR)_URL|RADRAG_(GATEWAY|RETRIEVAL|INGEST)_ADDRESS")
    others = outside(values)
    for name, pod in chart.pods(values):
        for variable, address in chart.environ(pod["containers"][0]).items():
            left = address in others or address.startswith("0.0.0.0:")
            if own.fullmatch(variable) and not left:
                yield name, variable, address


@NAMED
def test_clients_dial_the_pods_own_ports_of_headless_services(values: Path) -> None:
    """A headless service translates no ports: what is dialled must be what the container listens at."""
    services, deployments = chart.of_kind(values, "Service"), chart.of_kind(values, "Deployment")
    met = set()
    for name, variable, address in dialled(values):
        found = re.fullmatch(r"(radrag-[a-z]+)\.radrag\.svc\.[a-z.]+:(\d+)", address)
        assert found, f"{name}: {variable} is {address}"
        service, port = services[found[1]], int(found[2])
        met.add(variable)
        assert found[1] == f"radrag-{variable.split('_')[1].lower()}", f"{name}: {variable}"
        assert service["spec"]["clusterIP"] == "None", f"{name}: {variable}"
        spec = deployments[found[1]]["spec"]["template"]["spec"]
        listening = {one["name"]: one["containerPort"] for one in spec["containers"][0]["ports"]}
        assert listening["grpc"] == port
        assert {"port": port, "targetPort": port}.items() <= service["spec"]["ports"][0].items()
    models = {f"RADRAG_{role}_URL" for role in ("EMBEDDER", "RERANKER", "GENERATOR")}
    assert met >= {"RADRAG_RETRIEVAL_ADDRESS", "RADRAG_INGEST_ADDRESS"}
    assert len(met & models) == 3 - len(outside(values))


@NAMED
def test_ports_are_those_of_the_images_and_probes_ask_one_of_them(values: Path) -> None:
    for name, pod in chart.pods(values):
        container = pod["containers"][0]
        ports = {one["name"]: one["containerPort"] for one in container.get("ports", [])}
        if container["name"] in ("gateway", "retrieval", "ingest"):
            assert [str(one) for one in ports.values()] == IMAGES.stages[container["name"]].said("EXPOSE")[
                0
            ].split()
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            for how, asked in container.get(kind, {}).items():
                if how in ("tcpSocket", "httpGet", "grpc"):
                    assert asked["port"] in {*ports, *ports.values()}, f"{name}: {kind}"


@NAMED
def test_files_that_settings_name_are_below_a_mount(values: Path) -> None:
    for name, pod in chart.pods(values):
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            mounts = [one["mountPath"] + "/" for one in container["volumeMounts"]]
            for variable, value in chart.environ(container).items():
                if value.startswith("/") and variable != "RADRAG_MODELS":
                    assert any(value.startswith(one) for one in mounts), f"{name}: {variable}"


@NAMED
def test_selectors_find_their_pods_and_scalers_their_deployments(values: Path) -> None:
    deployments = chart.of_kind(values, "Deployment")
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in deployments.values()]
    for service in chart.of_kind(values, "Service").values():
        assert any(service["spec"]["selector"].items() <= one.items() for one in labels)
    for kind in ("HorizontalPodAutoscaler", "ScaledObject"):
        for one in chart.of_kind(values, kind).values():
            target = deployments[one["spec"]["scaleTargetRef"]["name"]]
            assert "replicas" not in target["spec"], "an upgrade would undo the autoscaler"


@NAMED
def test_every_pod_is_unprivileged_with_a_read_only_root_and_limited_memory(values: Path) -> None:
    for name, pod in chart.pods(values):
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"]["readOnlyRootFilesystem"], name
            assert container["resources"]["limits"]["memory"], name


@NAMED
def test_volumes_that_are_mounted_are_there(values: Path) -> None:
    for name, pod in chart.pods(values):
        volumes = {one["name"] for one in pod["volumes"]}
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            mounts = [one["name"] for one in container["volumeMounts"]]
            assert set(mounts) <= volumes, name
            assert len(set(mounts)) == len(mounts)


def test_the_start_of_large_weights_has_its_time_and_liveness_does_not_shorten_it() -> None:
    for role, seconds in (("embedder", 600), ("generator", 1800)):
        pod = chart.of_kind(GPU, "Deployment")[f"radrag-{role}"]["spec"]["template"]["spec"]
        probe = pod["containers"][0]["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] >= seconds


@NAMED
def test_models_exist_and_weights_are_checked_before_they_are_served(values: Path) -> None:
    for role in ("embedder", "reranker", "generator"):
        deployment = chart.of_kind(values, "Deployment").get(f"radrag-{role}")
        if deployment is None:
            continue
        pod = deployment["spec"]["template"]["spec"]
        container = pod["containers"][0]
        model = re.fullmatch(r"/v2/models/(\w+)/ready", container["readinessProbe"]["httpGet"]["path"])[1]  # type: ignore[index]
        assert (ROOT / "model_repository" / model / "config.pbtxt").exists()
        assert any(model in one for one in container["args"])
        if any(one["name"] == "weights" for one in pod["volumes"]):
            assert "weights_manifest.py" in pod["initContainers"][0]["args"][0]
        assert {"name": "shm", "mountPath": "/dev/shm"} in container["volumeMounts"]


def preloaded(given: str) -> list[tuple[str | None, str | None]]:
    """LD_PRELOAD and MALLOC_CONF of embedder, generator and reranker with some values set."""
    done = chart.template("--values", str(GPU), "--set", given)
    found = {
        one["metadata"]["name"].removeprefix("radrag-"): one["spec"]["template"]["spec"]["containers"][0]
        for one in yaml.safe_load_all(done.stdout)
        if one and one["kind"] == "Deployment"
    }
    given_to = [chart.environ(found[role]) for role in ("embedder", "generator", "reranker")]
    return [(one.get("LD_PRELOAD"), one.get("MALLOC_CONF")) for one in given_to]


def test_a_traced_gpu_server_gets_zeroed_memory_and_one_for_cpus_finds_its_own() -> None:
    zeroed, nothing = ("libjemalloc.so.2", "zero:true"), (None, None)
    assert preloaded("models.embedder.image=model-server") == [nothing, zeroed, zeroed]


@pytest.mark.parametrize("given", ["monitoring.tracePreload=", "monitoring.traces="])
def test_nothing_is_preloaded_without_traces_or_where_the_values_say_so(given: str) -> None:
    assert preloaded(given) == [(None, None)] * 3


def test_a_program_starts_without_a_library_that_is_to_be_preloaded() -> None:
    """An image that lacks `tracePreload` loses nothing: the loader says so and goes on."""
    environ = {"LD_PRELOAD": "libnot-there.so.2", "LC_ALL": "C"}
    done = subprocess.run(["/bin/echo", "on"], env=environ, capture_output=True, text=True, check=True)
    assert (done.stdout, "cannot be preloaded" in done.stderr) == ("on\n", True)


def test_snapshots_are_of_the_chart_s_own_volumes() -> None:
    wanted = yaml.safe_load_all((ROOT / "deploy" / "helm" / "snapshots.yaml").read_text())
    named = {one["spec"]["source"]["persistentVolumeClaimName"] for one in wanted}
    assert named == set(chart.of_kind(CPU, "PersistentVolumeClaim"))


def allowed(values: Path) -> set[tuple[str, str, int]]:
    """Caller, callee and port of every way that both ends' policies leave open."""
    policies = chart.of_kind(values, "NetworkPolicy").values()

    def ways(direction: str, peers: str) -> set[tuple[str, str, int]]:
        return {
            (role(policy["spec"]["podSelector"]), role(peer["podSelector"]), port["port"])
            for policy in policies
            for rule in policy["spec"][direction] or []
            for port in rule["ports"]
            for peer in rule.get(peers, [])
            if "app.kubernetes.io/component" in peer.get("podSelector", {}).get("matchLabels", {})
        }

    def role(selector: Any) -> str:
        return str(selector["matchLabels"]["app.kubernetes.io/component"])

    incoming = {(caller, callee, port) for callee, caller, port in ways("ingress", "from")}
    assert incoming == ways("egress", "to"), "the two ends do not agree"
    return incoming


def test_only_the_ways_of_the_design_are_open() -> None:
    assert {(one, other) for one, other, _ in allowed(GPU)} == {
        ("gateway", "embedder"), ("gateway", "reranker"), ("gateway", "generator"), ("gateway", "retrieval"),
        ("gateway", "ingest"), ("ingest", "embedder"), ("ingest", "retrieval"), ("job", "embedder"),
        ("job", "reranker"), ("job", "generator"), ("job", "retrieval"), ("job", "ingest"),
    }  # fmt: skip


def test_the_rules_are_those_that_prometheus_loads_elsewhere() -> None:
    same = ROOT / "deploy" / "observability" / "rules" / "radrag.rules.yaml"
    assert (chart.CHART / "files" / same.name).read_bytes() == same.read_bytes(), "run `make rules`"
    (rule,) = chart.of_kind(GPU, "PrometheusRule").values()
    alerts = [one for group in rule["spec"]["groups"] for one in group["rules"] if "alert" in one]
    assert alerts
    assert all((ROOT / one["annotations"]["runbook"]).is_file() for one in alerts)


def test_a_runbook_is_a_url_where_the_values_say_what_its_path_is_below() -> None:
    base = "https://git.example/radrag/blob/main/"
    done = chart.template("--values", str(GPU), "--set", f"monitoring.runbookBase={base}")
    (rule,) = (one for one in yaml.safe_load_all(done.stdout) if one and one["kind"] == "PrometheusRule")
    alerts = [one for group in rule["spec"]["groups"] for one in group["rules"] if "alert" in one]
    assert alerts
    for one in alerts:
        before, path = one["annotations"]["runbook"].split(base)
        assert not before
        assert (ROOT / path).is_file()


def test_jobs_are_called_as_rules_and_boards_call_them() -> None:
    (monitor,) = chart.of_kind(GPU, "ServiceMonitor").values()
    label = monitor["spec"]["jobLabel"]
    jobs = {one["metadata"]["labels"].get(label) for one in chart.of_kind(GPU, "Service").values()}
    assert jobs == {"gateway", "retrieval", "ingest", "triton", None}


def test_no_secret_is_in_what_is_rendered() -> None:
    for values in chart.VALUES:
        assert not chart.of_kind(values, "Secret")
