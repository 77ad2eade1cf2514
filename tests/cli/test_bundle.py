"""`radrag bundle create`: what is in a bundle, and an install of a real one where no route leads out."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from cli import bundle_create, bundle_install, bundle_packages, bundle_sbom
from cli.places import ROOT
from tests.cli import bundles
from tests.deploy import chart
from tests.results import kept


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return bundles.small(tmp_path)


def test_the_bill_names_packages_weights_data_and_images(bundle: Path) -> None:
    (bundle / "ocr").mkdir()
    (bundle / "ocr" / "rus.traineddata").write_bytes(b"data")
    (bundle / "images.txt").write_text("radrag/gateway:0.1.0\n")
    bundle_create.sealed(bundle, "0.1.0", "c0ffee")
    bill = json.loads((bundle / "sbom.cdx.json").read_text())
    package, data, weights, image = bill["components"]
    wheel = bundle / "wheels" / "main" / "tiny_part-1.5-py3-none-any.whl"
    sha = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert package["purl"] == "pkg:pypi/tiny-part@1.5"
    assert package["licenses"] == [{"license": {"name": "MIT"}}]
    assert package["hashes"] == [{"alg": "SHA-256", "content": sha}]
    assert (data["type"], data["name"]) == ("data", "ocr/rus.traineddata")
    assert (weights["type"], weights["name"]) == ("machine-learning-model", "weights/model.tar")
    assert (image["type"], image["name"]) == ("container", "radrag/gateway:0.1.0")
    assert bundle_sbom.bill("0.1.0", {wheel: sha}, {}, [])["components"] == [package]


def test_every_file_is_hashed_once(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = list[Path]()

    def digest(path: Path) -> str:
        hashed.append(path)
        return "0" * 64

    monkeypatch.setattr(bundle_install, "digest", digest)
    bundle_create.sealed(bundle, "0.1.0", "c0ffee")
    names = sorted(path.relative_to(bundle).as_posix() for path in hashed)
    assert names == sorted(set(bundle_install.files(bundle)) - {"sbom.cdx.json"})


def test_a_bundle_holds_what_was_committed_and_nothing_half_done(tmp_path: Path) -> None:
    for name in ("one.tar", "two.tar"):
        commit = bundle_create.committed(tmp_path / name)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    line = ["git", "ls-tree", "-r", "--name-only", "-z", commit]
    listed = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    with tarfile.open(tmp_path / "one.tar") as tar:
        assert {entry.name for entry in tar if not entry.isdir()} == set(listed) - {""}


def test_what_a_bundle_leaves_out_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_create, "ROOT", tmp_path)
    (tmp_path / "kept").write_text("one")
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "--quiet"], ["add", "kept"], [*who, "commit", "--quiet", "--message", "one"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert bundle_create.uncommitted() == 0
    (tmp_path / "kept").write_text("two")
    (tmp_path / "new").write_text("")
    assert bundle_create.uncommitted() == 2


def test_packages_are_those_of_the_lock_without_tools_for_developers() -> None:
    found = bundle_packages.pinned(bundle_packages.closure(bundle_packages.EXTRAS, bundle_packages.BUILD))
    assert set(found) <= set((ROOT / "requirements.lock").read_text().splitlines())
    names = {line.split("==")[0] for line in found}
    assert {"grpcio", "qdrant-edge-py", "docling-slim", "rich", "psycopg", "hatchling", "reportlab"} <= names
    assert not {"pytest", "ruff", "mypy", "torch"} & names


def test_images_are_all_that_compose_chart_and_dockerfile_name() -> None:
    found = bundle_create.images("0.1.0")
    assert {"radrag/gateway:0.1.0", "radrag/generator-gpu:0.1.0", "radrag/ingest-ray:0.1.0"} <= set(found)
    assert any(one.startswith("python:3.11") for one in found)
    assert any(one.startswith("qdrant/qdrant:") for one in found)
    assert not any("$" in one for one in found)


def test_the_chart_in_a_bundle_is_one_that_helm_takes(tmp_path: Path) -> None:
    bundle_create.chart(tmp_path / "charts", "0.1.0")
    values = tmp_path / "charts" / "values" / "air-gapped.yaml"
    done = chart.helm("template", "radrag", str(tmp_path / "charts" / "radrag-0.1.0.tgz"), "-f", str(values))
    assert done.returncode == 0, done.stderr


def test_the_chart_with_qdrant_is_in_a_bundle_where_it_was_fetched(tmp_path: Path) -> None:
    bundle_create.chart(tmp_path / "charts", "0.1.0")
    source = tmp_path / "cluster"
    shutil.copytree(ROOT / "deploy/helm/cluster", source, ignore=shutil.ignore_patterns("charts"))
    assert not bundle_create.cluster(tmp_path / "charts", source)
    assert not (tmp_path / "charts" / "cluster").exists()
    (source / "charts").mkdir()
    (source / "charts" / "qdrant-1.15.4.tgz").write_bytes(b"")
    assert bundle_create.cluster(tmp_path / "charts", source)
    complete = tmp_path / "charts" / "cluster" / "charts"
    assert {one.name for one in complete.iterdir()} == {"qdrant-1.15.4.tgz", "radrag-0.1.0.tgz"}


ASKED = os.environ.get("RADRAG_TEST_BUNDLE", "")


@pytest.mark.skipif(not ASKED, reason="many minutes: RADRAG_TEST_BUNDLE=1, or a bundle's path; make prove")
def test_a_bundle_installs_and_answers_where_no_route_leads_out(tmp_path: Path) -> None:
    """In a network namespace of its own: there is a loopback and nothing else."""
    made, prefix = (tmp_path / "bundle" if ASKED == "1" else Path(ASKED)), tmp_path / "prefix"
    if ASKED == "1":
        subprocess.run([sys.executable, "-m", "cli", "bundle", "create", str(made)], cwd=ROOT, check=True)
    install = f"'{sys._base_executable}' '{made}/install.py' '{prefix}'"  # type: ignore[attr-defined]
    inside = f"ip link set lo up; ! ip route | grep . && {install} && cd '{prefix}' && .venv/bin/radrag demo"
    began = time.monotonic()
    done = subprocess.run(
        ["unshare", "--map-root-user", "--net", "sh", "-euc", inside],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verified" in done.stdout
    size = sum(one.stat().st_size for one in made.rglob("*") if one.is_file())
    figures = {"megabytes": size // 1_000_000, "seconds": round(time.monotonic() - began)}
    kept("bundle", figures)
