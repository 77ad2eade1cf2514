"""Terms: what a clinician would call the same word or code is one term, in either alphabet."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.bm25 import STOP_WORDS
from retrieval.words import StopWordsMissing, Words, read_stop_words

WORDS = Words(read_stop_words(STOP_WORDS))


@pytest.mark.parametrize(
    "forms",
    [
        "снимок снимки снимков снимке снимком",
        "почка почки почек почками",
        "узел узлы узлов узлам",
        "ребро рёбра рёбер ребрами",
        "желудочек желудочки желудочков",
        "позвонок позвонки позвонков",
        "стенка стенки стенок",
        "лёгкое легкое лёгкие лёгких",
        "рентгеновский рентгеновская рентгеновского",
        "image images imaging",
        "fracture fractures fractured",
    ],
)
def test_inflected_forms_are_one_term(forms: str) -> None:
    assert len(set(WORDS.terms(forms))) == 1


@pytest.mark.parametrize(
    "different", ["почка печень", "снимок съёмка", "узел узор", "artery arthritis", "кт мрт", "T1 T2"]
)
def test_other_words_stay_apart(different: str) -> None:
    assert len(set(WORDS.terms(different))) == 2


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Т2", "T2"),  # Cyrillic Т, Latin T
        ("Т", "T"),
        ("4А", "4A"),
        ("КТ", "KT"),
        ("МРТ", "MPT"),
        ("Т2-ВИ", "T2-BИ"),
        ("Т2-ВИ", "Т2‑ВИ"),  # a non-breaking hyphen
        ("Т2-ВИ", "т2ви т2 ви"),
        ("T₂", "T2"),
        ("1,5 Тл", "1.5 Тл"),
        ("BI-RADS 4A", "bi‐rads 4а"),
        ("X-ray", "x ray xray"),
        ("край", "краи\u0306"),  # decomposed
    ],
)
def test_two_spellings_of_one_code_give_the_same_terms(left: str, right: str) -> None:
    assert sorted(WORDS.terms(left)) == sorted(WORDS.terms(right))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("BI-RADS 4A", {"birad", "rad", "4a"}),
        ("Т2-ВИ", {"t2"}),
        ("МРТ", {"mpt"}),
        ("T2-weighted imaging", {"t2", "weight", "imag"}),
        ("СанПиН 2.6.1.2523-09", {"санпин", "2523", "2.6.1.2523.09"}),
        ("доза 1,5 мЗв", {"1.5"}),
        ("patient's", {"patient"}),
    ],
)
def test_codes_and_numbers_survive(text: str, terms: set[str]) -> None:
    assert terms <= set(WORDS.terms(text))


def test_stop_words_of_both_languages_give_no_term() -> None:
    assert WORDS.terms("The and of to is, и в на что это для") == []


def test_negations_and_limits_are_terms() -> None:
    assert len(WORDS.terms("no not above без не после")) == 6


@given(st.text())
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    assert WORDS.terms(unicodedata.normalize("NFD", text)) == WORDS.terms(unicodedata.normalize("NFC", text))


@given(st.text())
def test_every_text_has_terms_without_blanks_or_capitals(text: str) -> None:
    for term in WORDS.terms(text):
        assert term
        assert not any(letter.isspace() for letter in term)


@pytest.mark.parametrize("left_out", ["english.txt", "russian.txt"])
@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_missing_or_empty_stop_word_file_is_an_error(
    tmp_path: Path, left_out: str, content: str | None
) -> None:
    for name in ("english.txt", "russian.txt"):
        (tmp_path / name).write_text("word\n")
    if content is None:
        (tmp_path / left_out).unlink()
    else:
        (tmp_path / left_out).write_text(content)
    with pytest.raises(StopWordsMissing, match=left_out):
        read_stop_words(tmp_path)
