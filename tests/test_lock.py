"""requirements.lock: what set-up installs, on any index, on the oldest Python we promise."""

import json
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from cli import lock

ROOT = Path(__file__).parent.parent
LINES = (ROOT / "requirements.lock").read_text().splitlines()
PINS = dict(line.split("==") for line in LINES if not line.startswith("#"))
DEBIAN_12 = "3.11.2"
APART = {
    "ingest-models",
    "ocr-models",
    "ray",
    "judge",
    "peers",
}  # extras that the main environment does without


def test_every_line_is_an_exact_version_and_no_index_or_file() -> None:
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.+!]+", line) for line in LINES if not line.startswith("#"))


def test_the_hashes_are_of_the_same_versions_and_pip_is_made_to_check_them() -> None:
    text = (ROOT / "requirements.hashes").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line.partition(" ")[0] for line in lines] == [line for line in LINES if not line.startswith("#")]
    assert all(re.fullmatch(r"\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "install --no-deps $$($(RUN) -m cli.lock here)" in makefile
    assert lock.here() in {
        "--require-hashes --requirement requirements.hashes",
        "--requirement requirements.lock",
    }


def test_a_report_becomes_both_and_a_file_without_a_hash_neither() -> None:
    one = {
        "metadata": {"name": "Some_Thing", "version": "1.0"},
        "download_info": {"archive_info": {"hashes": {"sha256": "ab" * 32}}},
    }
    ours = {"metadata": {"name": "radrag", "version": "0"}, "download_info": {"dir_info": {}}}
    report = json.dumps({"install": [one, ours]})
    assert lock.versions(report)[1:] == ["some-thing==1.0"]
    assert lock.hashes(report)[1:] == [f"some-thing==1.0 --hash=sha256:{'ab' * 32}"]
    with pytest.raises(KeyError):
        lock.hashes(json.dumps({"install": [{**one, "download_info": {"vcs_info": {}}}]}))
    with pytest.raises(ValueError, match="torch"):
        lock.versions(json.dumps({"install": [{**one, "metadata": {"name": "torch", "version": "2"}}]}))


def test_this_environment_is_the_locked_one() -> None:
    """Otherwise the tests prove another set of versions than set-up installs."""
    found = {name: distribution(name).version for name in PINS}
    assert {name: Version(one) for name, one in found.items()} == {n: Version(v) for n, v in PINS.items()}


def test_every_package_installs_on_debian_12() -> None:
    for name in PINS:
        wanted = distribution(name).metadata["Requires-Python"] or ""
        assert SpecifierSet(wanted).contains(DEBIAN_12), f"{name} wants Python {wanted}"


def test_every_requirement_is_in_the_lock_and_nothing_heavy_crept_in() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = declared["project"]["optional-dependencies"]
    groups = [
        *(lines for name, lines in extras.items() if name not in APART),
        declared["project"]["dependencies"],
        declared["dependency-groups"]["dev"],
    ]
    named = {canonicalize_name(Requirement(line).name) for group in groups for line in group}
    assert named - {"radrag"} <= PINS.keys()
    assert not {"torch", "transformers", "opencv-python", "easyocr"} & PINS.keys()
