"""`radrag bundle verify | install`: what is noticed in a damaged bundle, and what a failed install leaves."""

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

from cli import bundle_create, bundle_install
from cli.__main__ import main
from cli.bundle_install import WrongBundle
from tests.cli import bundles


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return bundles.small(tmp_path)


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


def test_a_file_that_is_a_link_or_cannot_be_read_is_named(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bundle / "weights" / "model.tar").rename(tmp_path / "elsewhere")
    (bundle / "weights" / "model.tar").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(bundle / "weights" / "pipe")
    failing = dict.fromkeys([bundle / "sbom.cdx.json"])

    def digest(path: Path) -> str:
        if path in failing:
            raise OSError(5, "Input/output error")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(bundle_install, "digest", digest)
    assert bundle_install.wrong(bundle) == [
        "weights/pipe is not in the manifest",
        "sbom.cdx.json cannot be read: Input/output error",
        "weights/model.tar is no plain file",
    ]


def said_otherwise(bundle: Path, **changes: object) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(manifest | changes))


@pytest.mark.parametrize("manifest", ["", "[]", '{"format": 2', '{"format": 2, "files": {"a": {}}}', "\xff"])
def test_a_manifest_that_is_none_or_was_cut_off_is_refused(bundle: Path, manifest: str) -> None:
    (bundle / "manifest.json").write_bytes(manifest.encode("latin-1"))
    with pytest.raises(WrongBundle, match=r"is no bundle: manifest\.json"):
        bundle_install.wrong(bundle)


def test_a_folder_without_a_manifest_or_with_another_format_is_refused(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongBundle, match="is no bundle"):
        bundle_install.wrong(tmp_path)
    said_otherwise(bundle, format=9)
    with pytest.raises(WrongBundle, match="format 9, this program reads 2"):
        bundle_install.wrong(bundle)


def test_a_bundle_for_another_machine_is_refused_before_anything_is_read(
    bundle: Path, tmp_path: Path
) -> None:
    said_otherwise(bundle, machine="Linux aarch64")
    (bundle / "weights" / "model.tar").unlink()
    with pytest.raises(WrongBundle, match=r"is for Linux aarch64, and this is \w+ \w+: create one there"):
        bundle_install.install(bundle, tmp_path / "prefix", {})


@pytest.mark.parametrize("there", [False, True])
def test_an_install_that_fails_leaves_nothing_behind(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """The next try finds the empty folder it needs. A folder that was there stays."""
    prefix = tmp_path / "prefix"
    if there:
        prefix.mkdir()

    def full(*_: object) -> None:
        assert (prefix / "LICENSE").exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundle_install, "_main", full)
    with pytest.raises(WrongBundle, match=r"not installed: .*No space left on device"):
        bundle_install.install(bundle, prefix, {})
    assert not prefix.exists() or not list(prefix.iterdir())
    assert prefix.exists() is there


def test_packages_are_found_where_the_bundles_path_has_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "My Stick" / "wheels" / "main"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "tiny_part-1.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_part-1.5.dist-info/METADATA", bundles.METADATA)
        wheel.writestr("tiny_part-1.5.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("tiny_part-1.5.dist-info/RECORD", "")
    given = bundle_install._offline(os.environ) | {
        "PIP_FIND_LINKS": bundle_install._wheels(tmp_path / "My Stick", "main")
    }
    line = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--quiet", "tiny-part==1.5"]
    done = subprocess.run(line, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_pip_is_told_of_no_index_whatever_this_machine_has_set() -> None:
    theirs = {
        "PIP_INDEX_URL": "https://a",
        "PIP_EXTRA_INDEX_URL": "https://b",
        "PIP_FIND_LINKS": "/c",
        "PATH": "/",
    }
    given = bundle_install._offline(theirs)
    assert given.keys() == {"PATH", "PIP_NO_INDEX", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_CONFIG_FILE"}


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


def _link(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, to
    return entry


OUTSIDE = {
    "above": tarfile.TarInfo("../LICENSE"),
    "absolute": tarfile.TarInfo("/LICENSE"),
    "link": _link("a/b", "../../c"),
    "absolute link": _link("a", "/etc"),
    "hard link": _link("a", "../b", tarfile.LNKTYPE),
    "device": _link("a", "", tarfile.CHRTYPE),
}


@pytest.mark.parametrize("entry", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_what_leads_out_of_the_prefix_is_refused(
    bundle: Path, tmp_path: Path, entry: tarfile.TarInfo
) -> None:
    with tarfile.open(bundle / bundle_install.SOURCE, "w") as tar:
        tar.addfile(entry)
    bundle_create.sealed(bundle, "0.1.0", "c0ffee")
    with pytest.raises(WrongBundle, match="leads out of the folder"):
        bundle_install.install(bundle, tmp_path / "prefix", {})
    assert not (tmp_path / "LICENSE").exists()


def test_the_installer_in_a_bundle_needs_the_standard_library_only(bundle: Path, tmp_path: Path) -> None:
    shutil.copy2(bundle_install.__file__, bundle / "install.py")
    line = [sys.executable, "-I", "-S", str(bundle / "install.py"), str(tmp_path / "prefix")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "install: install.py is not in the manifest\n")


def test_create_and_verify_say_the_same_mark(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "verify", str(bundle)]) == 0
    mark = hashlib.sha256((bundle / "manifest.json").read_bytes()).hexdigest()
    assert f"manifest sha256 {mark}" in capsys.readouterr().out
    (bundle / "weights" / "model.tar").unlink()
    assert main(["bundle", "verify", str(bundle)]) == 1
    assert "weights/model.tar is absent" in capsys.readouterr().err
