"""Weights and ids are fastembed's, IDF is Qdrant's, and everything fixed is in the hash."""

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.bm25 import STOP_WORDS, Bm25, term_id
from retrieval.frequencies import Frequencies, count, total

BM25 = Bm25(avg_len=256.0)


def test_a_weight_is_the_bm25_formula() -> None:
    vector = BM25.document("kidney kidney cyst")
    weights = dict(zip(vector.indices, vector.values, strict=True))
    flat = 1.2 * (1 - 0.75 + 0.75 * 3 / 256)
    assert weights[term_id("kidney")] == pytest.approx(2 * 2.2 / (2 + flat))
    assert weights[term_id("cyst")] == pytest.approx(2.2 / (1 + flat))


def test_ids_and_weights_are_those_of_fastembed() -> None:
    """Computed once with fastembed 0.9.1 for 'kidney cyst images kidney'."""
    vector = BM25.document("kidney cyst images kidney")
    assert dict(zip(vector.indices, vector.values, strict=True)) == pytest.approx(
        {2037885590: 1.9014179608, 2139247206: 1.6741973841, 301030427: 1.6741973841}
    )


def test_fastembed_itself_agrees_where_it_is_installed(tmp_path: Path) -> None:
    sparse = pytest.importorskip("fastembed.sparse.bm25")
    shutil.copy(STOP_WORDS / "english.txt", tmp_path)
    theirs = sparse.Bm25("Qdrant/bm25", cache_dir=str(tmp_path), specific_model_path=str(tmp_path))
    text = "acute renal failure after contrast media in patients with diabetes and failing kidneys"
    (embedding,) = theirs.embed([text])
    ours = BM25.document(text)
    expected = dict(zip(embedding.indices.tolist(), embedding.values.tolist(), strict=True))
    assert dict(zip(ours.indices, ours.values, strict=True)) == pytest.approx(expected)


def test_a_question_has_each_term_once() -> None:
    assert BM25.question("снимок и снимки") == (term_id("снимк"),)
    assert BM25.question("и в на the of") == ()


@pytest.mark.parametrize("other", [Bm25(k1=1.5), Bm25(b=0.5), Bm25(avg_len=100)])
def test_another_parameter_is_another_hash(other: Bm25) -> None:
    assert other.sha256 != Bm25().sha256 == Bm25().sha256


def test_another_stop_word_is_another_hash(tmp_path: Path) -> None:
    for name in ("english.txt", "russian.txt"):
        (tmp_path / name).write_text((STOP_WORDS / name).read_text() + "extra\n")
    assert Bm25(tmp_path).sha256 != Bm25().sha256


def test_nothing_that_could_reach_the_network_is_imported() -> None:
    code = "import sys, retrieval.bm25; retrieval.bm25.Bm25().document('почка'); print(*sys.modules)"
    imported = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert not imported & {"huggingface_hub", "requests", "httpx", "urllib3", "fastembed", "onnxruntime"}


def frequencies(*texts: str) -> Frequencies:
    return count(map(BM25.document, texts))


def test_idf_is_larger_for_rarer_terms_and_leaves_unknown_ones_out() -> None:
    known = frequencies("kidney cyst", "kidney stone", "kidney")
    weights = known.idf([term_id("kidney"), term_id("cyst"), term_id("liver")])
    assert weights.indices == (term_id("kidney"), term_id("cyst"))
    assert weights.values == pytest.approx((math.log(1 + 0.5 / 3.5), math.log(1 + 2.5 / 1.5)))


TEXTS = st.lists(st.sampled_from(["почка киста", "почка", "печень", "liver cyst", "МРТ Т2"]), max_size=6)


@given(first=TEXTS, second=TEXTS)
def test_taking_away_undoes_adding(first: list[str], second: list[str]) -> None:
    both = total([frequencies(*first), frequencies(*second)])
    assert same(both, frequencies(*first, *second))
    assert same(total([both], [frequencies(*second)]), frequencies(*first))


@given(TEXTS)
def test_stored_frequencies_are_read_back(texts: list[str]) -> None:
    known = frequencies(*texts)
    assert same(Frequencies.from_bytes(known.to_bytes(), known.children), known)


def same(left: Frequencies, right: Frequencies) -> bool:
    return (left.ids.tolist(), left.counts.tolist(), left.children) == (
        right.ids.tolist(),
        right.counts.tolist(),
        right.children,
    )
