"""A bundle small enough for tests of what is noticed in one."""

import tarfile
import zipfile
from pathlib import Path

from cli import bundle_create, bundle_install
from cli.places import ROOT

METADATA = "Metadata-Version: 2.1\nName: Tiny_Part\nVersion: 1.5\nLicense-Expression: MIT\n"


def small(tmp_path: Path) -> Path:
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
