"""The committed stubs: current, and loadable by the oldest protobuf that pyproject.toml allows."""

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROTOS = sorted(path.relative_to(ROOT / "protos").as_posix() for path in (ROOT / "protos").rglob("*.proto"))
STUBS = sorted(ROOT.glob("radrag/*/v1/*_pb2.py"))


def floor() -> Version:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (found,) = re.findall(r"protobuf>=([\d.]+)", " ".join(project["dependencies"]))
    return Version(found)


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.name)
def test_stubs_are_not_newer_than_the_protobuf_floor(stub: Path) -> None:
    (generated_by,) = re.findall(r"Protobuf Python Version: ([\d.]+)", stub.read_text())
    assert Version(generated_by) <= floor()


def test_every_contract_has_its_stub_and_no_stub_has_lost_its_contract() -> None:
    assert [proto.replace(".proto", "_pb2.py") for proto in PROTOS] == [
        stub.relative_to(ROOT).as_posix() for stub in STUBS
    ]


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FileDescriptorProto]:
    """The protos as they are now, compiled by buf."""
    image = tmp_path_factory.mktemp("buf") / "image.binpb"
    buf = Path(sys.executable).parent / "buf"
    subprocess.run([buf, "build", "--exclude-source-info", "-o", image], cwd=ROOT, check=True)
    return {file.name: file for file in FileDescriptorSet.FromString(image.read_bytes()).file}


@pytest.mark.parametrize("proto", PROTOS)
def test_a_stub_describes_its_contract_as_it_is_now(
    contracts: dict[str, FileDescriptorProto], proto: str
) -> None:
    module = importlib.import_module(proto.replace("/", ".").replace(".proto", "_pb2"))
    stub, contract = FileDescriptorProto(), FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(stub)
    contract.CopyFrom(contracts[proto])
    assert without_json_names(stub) == without_json_names(contract), "run make protos"


def without_json_names(file: FileDescriptorProto) -> FileDescriptorProto:
    """Compilers differ in whether they write those down; they follow from the names."""
    pending = list(file.message_type)
    while pending:
        message = pending.pop()
        pending.extend(message.nested_type)
        for field in message.field:
            field.ClearField("json_name")
    file.DiscardUnknownFields()  # buf's own marks
    return file
