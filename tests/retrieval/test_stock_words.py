"""The stock way of cutting words: fastembed's, and what it loses of codes that ours keeps."""

import shutil
from pathlib import Path

import pytest

from retrieval.bm25 import STOP_WORDS, Bm25
from retrieval.stock_words import LANGUAGES, StockWords
from retrieval.words import StopWordsMissing, Words, read_stop_words

OURS = Words(read_stop_words(STOP_WORDS))
TEXTS = (
    "BI-RADS 4A: the lesion's margins, 1.5 cm (T2-weighted).",
    "На Т2-ВИ отёк яркий; снимки МРТ в 3D.",
    "",
    "— … ",
)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", TEXTS)
def test_terms_and_weights_are_fastembed_s_where_it_is_installed(
    text: str, language: str, tmp_path: Path
) -> None:
    sparse = pytest.importorskip("fastembed.sparse.bm25")
    shutil.copy(STOP_WORDS / f"{language}.txt", tmp_path)
    where = {"cache_dir": str(tmp_path), "specific_model_path": str(tmp_path)}
    (theirs,) = sparse.Bm25("Qdrant/bm25", language=language, **where).embed([text])
    ours = Bm25(avg_len=256.0, words=StockWords(STOP_WORDS, language)).document(text)
    expected = dict(zip(theirs.indices.tolist(), theirs.values.tolist(), strict=True))
    assert dict(zip(ours.indices, ours.values, strict=True)) == pytest.approx(expected)


def test_it_stems_one_language_and_drops_its_stop_words() -> None:
    assert StockWords(STOP_WORDS, "english").terms("the kidneys и почки") == ["kidney", "и", "почки"]
    assert StockWords(STOP_WORDS, "russian").terms("the kidneys и почки") == ["the", "kidneys", "почк"]


@pytest.mark.parametrize("pair", [("BI-RADS 4A", "BIRADS 4А"), ("Т2-ВИ", "T2 ВИ"), ("МРТ", "MРT")])
def test_codes_meet_in_our_terms_and_not_all_of_them_in_the_stock_ones(pair: tuple[str, str]) -> None:
    one, other = (set(OURS.terms(text)) for text in pair)
    assert one & other
    for language in LANGUAGES:
        stock = StockWords(STOP_WORDS, language)
        assert set(stock.terms(pair[0])) != set(stock.terms(pair[1]))
        shared = set(stock.terms(pair[0])) & set(stock.terms(pair[1]))
        assert len(shared) < len(one & other)


def test_each_way_of_cutting_has_a_fingerprint_of_its_own() -> None:
    made = [Bm25(), *(Bm25(words=StockWords(STOP_WORDS, language)) for language in LANGUAGES)]
    assert len({one.sha256 for one in made}) == 3


def test_a_language_without_a_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StopWordsMissing, match=r"latin\.txt is missing or empty"):
        StockWords(tmp_path, "latin")
