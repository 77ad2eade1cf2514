"""The images: what each would hold. Their Python steps run for real in test_image_builds.py."""

import json
import re
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from cli import model_environment, model_server
from cli.bundle_packages import closure
from cli.places import ROOT
from radrag.settings import Settings
from tests.deploy import dockerfile

FILE = dockerfile.read(ROOT / "deploy" / "Dockerfile")
SERVICES = ("gateway", "retrieval", "ingest")
TARGETS = (*SERVICES, "ingest-ray", "model-server", "model-server-gpu", "generator-gpu")
HEAVY = {"torch", "docling-slim", "docling-core", "transformers", "easyocr", "opencv-python"}
MEGABYTE = 1_000_000


def extras(target: str) -> set[str]:
    install = next(one for one in FILE.commands(f"{target}-build") if " install " in one)
    return set(re.search(r"\.\[([a-z,]+)\]", install)[1].split(","))  # type: ignore[index]


def megabytes(found: dict[str, Distribution]) -> float:
    files = [Path(str(file.locate())) for one in found.values() for file in one.files or []]
    return sum(file.stat().st_size for file in files if file.is_file()) / MEGABYTE


def test_every_target_of_the_deployment_is_there() -> None:
    assert set(TARGETS) <= FILE.stages.keys()
    schema = json.loads((ROOT / "deploy/helm/radrag/values.schema.json").read_text(encoding="utf-8"))
    digests = schema["properties"]["image"]["properties"]["digests"]
    assert set(digests["propertyNames"]["enum"]) == set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_no_image_runs_as_root_and_each_base_is_an_argument(target: str) -> None:
    chain = FILE.chain(target)
    assert [rest for stage in chain for rest in stage.said("USER")][-1] == "10001:10001"
    argument = re.fullmatch(r"\$\{(\w+)\}", chain[0].below)
    assert argument, f"{target} stands on a fixed image"
    assert re.fullmatch(r"[\w./-]+:[\w.-]*\d[\w.-]*", FILE.arguments[argument[1]])


@pytest.mark.parametrize("target", [*SERVICES, "model-server"])
def test_images_say_how_healthy_they_are_at_their_own_port(target: str) -> None:
    (health,) = FILE.stages[target].said("HEALTHCHECK")
    ports = re.findall(r"127\.0\.0\.1:(\d+)", health)
    assert ports
    assert set(ports) <= set(FILE.stages[target].said("EXPOSE")[0].split())


@pytest.mark.parametrize("target", SERVICES)
def test_settings_of_images_are_known_and_their_ports_exposed(target: str) -> None:
    given = {name: value for name, value in FILE.settings(target).items() if name.startswith("RADRAG_")}
    settings = Settings.from_environ(given)
    port = int(getattr(settings, f"{target}_address").rpartition(":")[2])
    assert FILE.stages[target].said("EXPOSE")[0].split() == [str(port + above) for above in (0, 100, 200)]
    assert settings.metrics_host == "0.0.0.0"


@pytest.mark.parametrize("target", ["gateway", "retrieval"])
def test_the_answer_path_carries_no_document_parser_and_no_torch(target: str) -> None:
    found = closure(extras(target))
    assert not HEAVY & found.keys()
    assert megabytes(found) < 250


def test_ingest_reads_documents_and_has_no_torch() -> None:
    found = closure(extras("ingest"))
    assert "docling-slim" in found
    assert not (HEAVY - {"docling-slim", "docling-core"}) & found.keys()


def test_every_target_with_a_step_to_run_has_a_build_test() -> None:
    for file in ("Makefile", "deploy/README.md"):
        (asked,) = re.findall(r'RADRAG_TEST_IMAGES="([^"]+)"', (ROOT / file).read_text(encoding="utf-8"))
        assert set(asked.split()) == {one for one in TARGETS if FILE.commands(one)}, file


def test_ocr_packages_are_those_of_set_up() -> None:
    wanted = {"tesseract-ocr", "tesseract-ocr-eng", "tesseract-ocr-rus"}
    assert wanted <= set(" ".join(FILE.commands("ingest")).split())
    assert "tesseract-ocr" in (ROOT / "cli" / "setup.sh").read_text()


def test_every_file_an_image_copies_exists_and_is_in_the_build_context() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        word
        for stage in FILE.stages.values()
        for rest in stage.said("COPY")
        if not rest.startswith("--from")
        for word in rest.split()[:-1]
    }
    assert all(one.split("/")[0] in allowed for one in copied)
    assert all((ROOT / one).exists() for one in copied)


def test_what_the_cpu_models_link_to_is_copied_with_them() -> None:
    """A model's file that is a link to one outside of the image would be missing from it."""
    copied = [ROOT / word for rest in FILE.stages["models"].said("COPY") for word in rest.split()[:-1]]
    models = re.findall(r'"([a-z0-9_]+)"', FILE.stages["model-server"].said("CMD")[0])
    assert models
    for model in models:
        for link in (model_environment.MODEL_REPOSITORY / model).rglob("*"):
            target = link.resolve()
            assert any(target.is_relative_to(one) for one in copied), f"{link} leads to {target}"


def test_the_model_servers_command_is_one_that_triton_takes() -> None:
    (entry,) = FILE.stages["model-server"].said("ENTRYPOINT")
    assert '"cli.model_server"' in entry
    models = re.findall(r'"([a-z0-9_]+)"', FILE.stages["model-server"].said("CMD")[0])
    command, _ = model_server.line(models, {})
    assert [part for part in command if part.startswith("--load-model")] == [
        f"--load-model={one}" for one in models
    ]
    assert all((model_environment.MODEL_REPOSITORY / one / "config.pbtxt").is_file() for one in models)
