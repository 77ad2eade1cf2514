"""The embedder's own modules, importable as inside Triton, and one loaded encoder."""

import sys

import pytest

from cli.model_environment import MODEL_REPOSITORY, ModelEnvironment

E5 = MODEL_REPOSITORY / "e5_small"
FILES = E5 / "1"
# Last on the path: their names are short and must not hide anybody's.
sys.path += [str(FILES), str(E5 / "convert")]
sys.path += [
    str(MODEL_REPOSITORY / model / "1")
    for model in ("frida", "qwen3_reranker", "lexical_late_interaction", "extractive", "gguf")
]

from e5_encoder import Encoder  # noqa: E402 - it lies in the model's folder


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    if not (FILES / "model.onnx").is_file() or not ModelEnvironment().ready:
        pytest.fail("the weights are not converted: run `make models`")
    return Encoder.load(FILES, threads=1)
