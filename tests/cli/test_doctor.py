"""The doctor names everything at once; the machine is made up, one fault at a time."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli import checks, doctor, places
from cli.exits import Exit
from cli.machine import Machine
from tests.cli import screens

GIB = 1024**3
CONFIG = places.MODEL_REPOSITORY / "e5_small" / "config.pbtxt"


def pins(path: Path) -> str:
    """The sha256 that the model's configuration wants of a file."""
    return checks.pinned(CONFIG)[checks.PINNED[path.name]]


HEALTHY = Machine(
    system=lambda: ("Linux", "x86_64"),
    python=lambda: (3, 11),
    has_libpython=lambda: True,
    memory=lambda: 16 * GIB,
    disk=lambda path: 50 * GIB,
    writable=lambda path: True,
    exists=lambda path: True,
    sha256=pins,
    installed=lambda module: True,
    ocr_languages=lambda: frozenset({"eng", "rus", "osd"}),
    free=lambda port: True,
    holder=lambda number: "pid 7 (nginx)",
)


def faults(machine: Machine, **environ: str) -> dict[str, str]:
    findings = doctor.examine(machine, environ)
    return {finding.name: f"{finding.detail} → {finding.cure}" for finding in checks.faults(findings)}


def test_a_healthy_machine_has_no_fault() -> None:
    assert faults(HEALTHY) == {}


@pytest.mark.parametrize(
    ("machine", "name", "says"),
    [
        (replace(HEALTHY, system=lambda: ("Darwin", "arm64")), "platform", "Linux x86-64"),
        (replace(HEALTHY, python=lambda: (3, 12)), "python", "use Python 3.11"),
        (replace(HEALTHY, has_libpython=lambda: False), "libpython", "apt install libpython3.11"),
        (replace(HEALTHY, memory=lambda: GIB), "memory", "1.0 GiB available"),
        (replace(HEALTHY, writable=lambda path: False), "home", "not writable"),
        (replace(HEALTHY, exists=lambda path: path.suffix != ".ttf"), "font", "fonts-dejavu"),
        (replace(HEALTHY, exists=lambda path: path != checks.SHM), "/dev/shm", "mount"),
        (replace(HEALTHY, exists=lambda path: path.name != "tritonserver"), "model server", "make setup"),
        (replace(HEALTHY, installed=lambda module: module != "docling"), "package docling", "radrag[ingest]"),
        (replace(HEALTHY, ocr_languages=frozenset), "tesseract", "tesseract-ocr tesseract-ocr-rus"),
        (replace(HEALTHY, ocr_languages=lambda: frozenset({"eng"})), "tesseract", "install tesseract-ocr-r"),
        (replace(HEALTHY, sha256=lambda path: ""), "weights model.onnx", "is missing"),
        (replace(HEALTHY, sha256=lambda path: "0"), "weights tokenizer.json", "differs"),
        (replace(HEALTHY, free=lambda port: port.number != 50051), "port 50051", "pid 7 (nginx)"),
        (replace(HEALTHY, free=lambda port: port.number != 8002), "port 8002", "model server metrics"),
    ],
)
def test_each_fault_is_named_with_its_cure(machine: Machine, name: str, says: str) -> None:
    assert says in faults(machine)[name]


def test_too_little_disk_and_shared_memory_are_two_faults() -> None:
    assert {"disk", "/dev/shm"} <= faults(replace(HEALTHY, disk=lambda path: GIB // 8)).keys()


def test_settings_that_are_wrong_are_findings_beside_the_others() -> None:
    machine = replace(HEALTHY, memory=lambda: GIB)
    assert "RADRAG_HOME" in faults(machine, RADRAG_HOMR="x")["settings"]
    assert "is not host:port" in faults(machine, RADRAG_GATEWAY_ADDRESS="nowhere")["settings"]
    assert "memory" in faults(machine, RADRAG_HOMR="x")


def test_everything_missing_is_named_in_one_go() -> None:
    bare = Machine(
        system=lambda: ("Darwin", "arm64"),
        python=lambda: (3, 13),
        has_libpython=lambda: False,
        memory=lambda: 0,
        disk=lambda path: 0,
        writable=lambda path: False,
        exists=lambda path: False,
        sha256=lambda path: "",
        installed=lambda module: False,
        ocr_languages=frozenset,
        free=lambda port: False,
        holder=lambda number: "another process",
    )
    named = faults(bare)
    wanted = {"platform", "python", "libpython", "model server", "memory", "disk", "/dev/shm", "home", "font"}
    wanted |= {"tesseract"}
    assert wanted | {"port 8000", "port 50151", "port 50252", "weights limits.json"} <= named.keys()


def test_the_report_puts_faults_last_and_fails() -> None:
    pipe = screens.pipe()
    findings = doctor.examine(replace(HEALTHY, has_libpython=lambda: False), {})
    assert doctor.report(findings, pipe, as_json=False) == Exit.FAILURE
    assert screens.out(pipe).splitlines()[-3:] == [
        "MISSING libpython: not found",
        "        → apt install libpython3.11",
        f"1 of {len(findings)} need attention",
    ]


def test_the_report_as_json_has_each_finding() -> None:
    pipe = screens.pipe()
    assert doctor.report(doctor.examine(HEALTHY, {}), pipe, as_json=True) == Exit.OK
    found = json.loads(screens.out(pipe))
    assert {one["name"] for one in found} >= {"platform", "memory"}
    assert all(one["good"] for one in found)


def test_this_machines_own_answers_have_their_units() -> None:
    machine = Machine()
    assert machine.memory() > 2**20
    assert machine.disk(Path("/no/such/folder/yet")) > 2**20
    assert machine.sha256(Path("/dev/null")).startswith("e3b0c442")
    assert machine.sha256(Path("/no/such/file")) == ""
