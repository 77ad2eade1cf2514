"""Texts found whatever their Unicode form and white space."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.normalised import Normalised


@pytest.mark.parametrize(
    ("document", "wanted", "reads"),
    [
        ("a dose\n  of 20 mSv.", "dose of 20 mSv", "dose\n  of 20 mSv"),
        ("й ё", unicodedata.normalize("NFD", "й ё"), "й ё"),
        (unicodedata.normalize("NFD", "мозжечковый край"), "край", unicodedata.normalize("NFD", "край")),
        ("a ﬁne ﬁle", "fine file", "ﬁne ﬁle"),
        ("ﬁ", "i", "ﬁ"),
        ("5 мл/с", "5 мл/с", "5 мл/с"),
        ("x², y", "x2", "x²"),
    ],
)
def test_found_where_it_stands(document: str, wanted: str, reads: str) -> None:
    ((start, end),) = Normalised.of(document).find(wanted)
    assert document[start:end] == reads


def test_every_place_is_found_and_blanks_are_nowhere() -> None:
    assert Normalised.of("no. no.\nno.").find("no.") == [(0, 3), (4, 7), (8, 11)]
    assert Normalised.of("a b").find("  ") == []
    assert Normalised.of("a b").find("c") == []


@given(st.text(max_size=40), st.integers(0, 40), st.integers(1, 20))
def test_each_part_of_a_text_is_found_in_it(text: str, start: int, length: int) -> None:
    part = text[start : start + length]
    if part and unicodedata.combining(part[0]):
        return
    if not Normalised.of(part).text.strip():
        return
    rest = text[start + length : start + length + 1]
    if rest and unicodedata.combining(rest):
        return
    found = Normalised.of(text).find(part)
    wanted = Normalised.of(part).text.strip()
    assert any(Normalised.of(text[a:b]).text.strip() == wanted for a, b in found)
