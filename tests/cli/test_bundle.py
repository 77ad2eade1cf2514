"""`radrag bundle`: what is in it, what is noticed when it changes, and an install without any network."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from cli import bundle_create, bundle_install, bundle_packages, bundle_sbom
from cli.bundle_install import WrongBundle
from cli.places import ROOT
from tests.deploy import chart

METADATA = "Metadata-Version: 2.1\nName: Tiny_Part\nVersion: 1.5\nLicense-Expression: MIT\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A small bundle with a wheel, a weight and a project of one file."""
    folder = tmp_path / "bundle"
    (folder / "wheels" / "main").mkdir(parents=True)
    with zipfile.ZipFile(folder / "wheels" / "main" / "tiny_part-1.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_part-1.5.dist-info/METADATA", METADATA)
    (folder / "weights").mkdir()
    (folder / "weights" / "model.tar").write_bytes(b"weights")
    with tarfile.open(folder / bundle_install.SOURCE, "w") as tar:
        tar.add(ROOT / "LICENSE", "LICENSE")
    bundle_create.sealed(folder, "0.1.0", "c0ffee")
    return folder


def test_a_whole_bundle_has_nothing_wrong(bundle: Path) -> None:
    assert bundle_install.wrong(bundle) == []


def test_every_kind_of_change_is_named(bundle: Path) -> None:
    (bundle / "weights" / "model.tar").write_bytes(b"weighty")
    (bundle / "sbom.cdx.json").unlink()
    (bundle / "wheels" / "extra.whl").write_bytes(b"")
    (bundle / bundle_install.SOURCE).write_bytes(b"short")
    first, second, third, fourth = bundle_install.wrong(bundle)
    assert first == "sbom.cdx.json is absent"
    assert second == "wheels/extra.whl is not in the manifest"
    assert third.startswith("source.tar has 5 bytes")
    assert fourth == "weights/model.tar has another sha256 than the manifest says"


def test_what_is_no_bundle_or_of_another_format_is_refused(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongBundle, match="is no bundle"):
        bundle_install.wrong(tmp_path)
    said = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(said | {"format": 9}))
    with pytest.raises(WrongBundle, match="format 9, this program reads 1"):
        bundle_install.wrong(bundle)


def test_install_touches_no_folder_that_has_something_in_it(bundle: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    prefix.mkdir()
    (prefix / "mine").write_text("keep")
    with pytest.raises(WrongBundle, match="is not empty"):
        bundle_install.install(bundle, prefix, {})
    assert [path.name for path in prefix.iterdir()] == ["mine"]


def test_install_unpacks_nothing_of_a_bundle_that_is_damaged(bundle: Path, tmp_path: Path) -> None:
    (bundle / "weights" / "model.tar").write_bytes(b"other")
    with pytest.raises(WrongBundle, match=r"weights/model\.tar has 5 bytes"):
        bundle_install.install(bundle, tmp_path / "prefix", {})
    assert not (tmp_path / "prefix").exists()


def test_a_path_that_leads_out_of_the_prefix_is_refused(bundle: Path, tmp_path: Path) -> None:
    with tarfile.open(bundle / bundle_install.SOURCE, "w") as tar:
        tar.add(ROOT / "LICENSE", "../LICENSE")
    bundle_create.sealed(bundle, "0.1.0", "c0ffee")
    with pytest.raises(WrongBundle, match="leads out of the folder"):
        bundle_install.install(bundle, tmp_path / "prefix", {})
    assert not (tmp_path / "LICENSE").exists()


def test_the_installer_in_a_bundle_needs_the_standard_library_only(bundle: Path, tmp_path: Path) -> None:
    shutil.copy2(bundle_install.__file__, bundle / "install.py")
    line = [sys.executable, "-I", "-S", str(bundle / "install.py"), str(tmp_path / "prefix")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "install: install.py is not in the manifest\n")


def test_the_bill_names_each_package_with_licence_and_hash(bundle: Path) -> None:
    bill = json.loads((bundle / "sbom.cdx.json").read_text())
    package, weights = bill["components"]
    wheel = bundle / "wheels" / "main" / "tiny_part-1.5-py3-none-any.whl"
    assert package["purl"] == "pkg:pypi/tiny-part@1.5"
    assert package["licenses"] == [{"license": {"name": "MIT"}}]
    assert package["hashes"][0]["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert weights["name"] == "weights/model.tar"
    assert bundle_sbom.bill("0.1.0", [wheel], {})["components"] == [package]


def test_a_bundle_holds_what_was_committed_and_nothing_half_done(tmp_path: Path) -> None:
    for name in ("one.tar", "two.tar"):
        commit = bundle_create.committed(tmp_path / name)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    line = ["git", "ls-tree", "-r", "--name-only", "-z", commit]
    listed = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    with tarfile.open(tmp_path / "one.tar") as tar:
        assert {entry.name for entry in tar if not entry.isdir()} == set(listed) - {""}


def test_packages_are_those_of_the_lock_without_tools_for_developers() -> None:
    found = bundle_packages.pinned(bundle_packages.closure(bundle_packages.EXTRAS, bundle_packages.BUILD))
    assert set(found) <= set((ROOT / "requirements.lock").read_text().splitlines())
    names = {line.split("==")[0] for line in found}
    assert {"grpcio", "qdrant-edge-py", "docling-slim", "rich", "psycopg", "hatchling", "reportlab"} <= names
    assert not {"pytest", "ruff", "mypy", "torch"} & names


def test_images_are_all_that_compose_and_the_dockerfile_name() -> None:
    found = bundle_create.images("0.1.0")
    assert {"radrag/gateway:0.1.0", "radrag/generator-gpu:0.1.0"} <= set(found)
    assert any(one.startswith("python:3.11") for one in found)
    assert any(one.startswith("qdrant/qdrant:") for one in found)
    assert not any("$" in one for one in found)


def test_the_chart_in_a_bundle_is_one_that_helm_takes(tmp_path: Path) -> None:
    bundle_create.chart(tmp_path / "charts", "0.1.0")
    values = tmp_path / "charts" / "values" / "air-gapped.yaml"
    done = chart.helm("template", "radrag", str(tmp_path / "charts" / "radrag-0.1.0.tgz"), "-f", str(values))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(
    "RADRAG_TEST_BUNDLE" not in os.environ, reason="many minutes: RADRAG_TEST_BUNDLE=1, make prove"
)
def test_a_bundle_installs_and_answers_where_no_route_leads_out(tmp_path: Path) -> None:
    """In a network namespace of its own: there is a loopback and nothing else."""
    made, prefix = tmp_path / "bundle", tmp_path / "prefix"
    subprocess.run([sys.executable, "-m", "cli", "bundle", "create", str(made)], cwd=ROOT, check=True)
    inside = (
        f"ip link set lo up; ! ip route | grep . && '{sys._base_executable}' '{made}/install.py' '{prefix}'"  # type: ignore[attr-defined]
    )
    inside += f" && cd '{prefix}' && .venv/bin/radrag demo"
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["unshare", "--map-root-user", "--net", "sh", "-euc", inside],
        cwd=tmp_path, env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verified" in done.stdout
