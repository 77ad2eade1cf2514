"""Wordings of one meaning become one, and those of another stay apart."""

import pytest

from gateway.wording import acronyms, plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("6 weeks", "six weeks"),
        ("через 6 недель", "через шесть недель"),
        ("every 1 year", "annually"),
        ("every year", "once a year"),
        ("каждые 3 месяца", "раз в 3 месяца"),
        ("проверяют ежегодно", "проверяют раз в год"),
        ("below 50 mGy", "less than 50 mGy"),
        ("ниже 50 мГр", "менее 50 мГр"),
        ("older than 18 years", "above 18 years"),
        ("at least 4 hours", "4 hours or more"),
        ("15 мм и более", "не менее 15 мм"),
        ("от 10 мм", "10 мм и более"),
        ("at most 2 W", "no more than 2 W"),
        ("it must not exceed 5 mm", "it at most 5 mm"),
        ("доза не должна превышать 5 мГр", "доза не более 5 мГр"),
        ("unlikely", "improbable"),
        ("is required", "is needed"),
        ("не обязательно", "необязательно"),
        ("0.1 mGy", "O.1 mGy"),
        ("3,5 мг", "З,5 мг"),
        ("0.5 mg", ".5 mg"),
        ("computed tomography", "CT"),
        ("контраст не вводится", "контраст не вводит"),
    ],
)
def test_one_meaning_has_one_form(one: str, other: str) -> None:
    def meaning(text: str) -> set[str]:
        return {word.strip() for word in plain(text).lower().split()}

    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("two weeks", "six weeks"),
        ("every year", "every 2 years"),
        ("at least 4 hours", "at most 4 hours"),
        ("менее 5 мм", "не менее 5 мм"),
        ("likely", "unlikely"),
        ("обязательно", "необязательно"),
        ("from 6 to 8 mm", "from 6 mm"),
        ("от 6 мм до 8 мм", "от 6 мм"),
    ],
)
def test_another_meaning_keeps_its_own_form(one: str, other: str) -> None:
    assert plain(one).split() != plain(other).split()


def test_ranges_and_roman_numerals_are_left_alone() -> None:
    text = "Bosniak III, 6–8 mm, OI 5, T2, type O"
    assert plain(text) == text


def test_names_in_capitals_are_found_but_not_in_a_text_of_capitals() -> None:
    assert acronyms("В периферической зоне ведущей является ДВИ, на CT нет") == {"ДВИ", "CT"}
    assert acronyms("ВАЖНО ЗНАТЬ") == frozenset()
