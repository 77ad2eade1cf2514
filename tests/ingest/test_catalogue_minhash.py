"""Near-duplicates: a signature's likeness is close to the true one, and the bands find what is alike."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.catalogue.minhash import BANDS, NEAR, bands, likeness, signature

WORDS = [f"слово{n}" for n in range(500)]


def pair(shared: int, own: int, seed: int = 7) -> tuple[str, str, float]:
    """Two texts that share a beginning of so many words and end each in its own, and their true likeness."""
    rng = random.Random(seed)
    start = rng.choices(WORDS, k=shared)
    texts = [start + rng.choices(WORDS, k=own) for _ in range(2)]
    sets = [{tuple(words[at : at + 5]) for at in range(len(words) - 4)} for words in texts]
    return " ".join(texts[0]), " ".join(texts[1]), len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@pytest.mark.parametrize(("shared", "own"), [(900, 20), (900, 100), (500, 500), (50, 900)])
def test_the_estimate_is_near_the_true_likeness(shared: int, own: int) -> None:
    one, other, true = pair(shared, own)
    assert abs(likeness(signature(one), signature(other)) - true) < 4 * 0.045


@pytest.mark.parametrize("seed", range(20))
def test_what_is_alike_shares_a_band(seed: int) -> None:
    one, other, true = pair(900, 60, seed)
    assert true > NEAR
    assert set(bands(signature(one))) & set(bands(signature(other)))


@given(st.text(max_size=300))
def test_a_text_is_like_itself_whatever_its_case_and_its_spaces(text: str) -> None:
    same = "  ".join(text.split())
    signed = signature(text)
    assert signed == signature(same) == signature(text)
    assert likeness(signed, signed) == (1.0 if signed else 0.0)
    assert len(bands(signed)) in {0, BANDS}


def test_a_stored_signature_stays_comparable() -> None:
    """Another seed or hash would make every stored signature worthless."""
    assert signature("The lens dose limit is 20 mSv a year.")[:8].hex() == "1691860155bf825b"
    assert likeness(b"", signature("x")) == 0.0
