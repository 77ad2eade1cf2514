"""Bundles of the tiny models, made once in the model servers' environment and kept below var/."""

import hashlib
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from cli.model_environment import MODEL_REPOSITORY, ROOT, ModelEnvironment
from tests.model_repository import tiny_models

ENVIRONMENT = ModelEnvironment()
WITHOUT_TORCH = "PyTorch is not in the model servers' environment: run `make setup-torch`"
OPTIONS = {"frida": [], "qwen3_reranker": ["--least-margin", "0"]}


def tiny_bundle(kind: str) -> Path:
    """The folder of a tiny frida or qwen3_reranker; not to be changed. Skips where there is no PyTorch."""
    if not ENVIRONMENT.torch_ready:
        pytest.skip(WITHOUT_TORCH)
    folder = ROOT / "var" / "tiny_models" / f"{kind}-{sources(kind)[:16]}"
    if not (folder / "manifest.json").is_file():
        make(kind, folder)
    return folder


def sources(kind: str) -> str:
    """A hash of the programs that make it."""
    files = [Path(tiny_models.__file__), *sorted((MODEL_REPOSITORY / kind / "bundle").rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def make(kind: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob(f"{kind}-*"):
        shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as building:
        place = Path(building) / "bundle"
        command = [str(ENVIRONMENT.python), tiny_models.__file__, kind, str(place), *OPTIONS[kind]]
        subprocess.run(command, check=True, capture_output=True)
        # Another run may have made the same in the meantime.
        with suppress(OSError):
            place.rename(folder)
