"""Where sentences end in the text this service reads and writes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radrag.sentences import finished_sentences, sentences


def parts(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Накопление контраста, т. е. усиление, типично.",
        "Это так, т.е. МРТ показана.",
        "См. рис. 3 и табл. 2 приложения.",
        "Давление 140 мм рт. ст. и выше.",
        "Давление 140 мм. рт. ст. и выше.",
        "Подробнее см. Приказ 560н.",
        "КТ, МРТ и т. д. применяют редко.",
        "Приказ от 2020 г. действует.",
        "В г. Москва действует центр.",
        "Предложил проф. И. И. Иванов.",
        "Use contrast, e.g. Gadolinium, or none, i.e. T1 alone.",
        "See Fig. 3 and Dr. Smith's note.",
        "J. R. Smith described it.",
        "The dose is 0.5 mSv or 0,5 mSv.",
        "Согласно п. 3.1.2 и ст. 15 закона.",
        "Доза в норме (см. ниже) мала.",
        "Норма (0.5–1.5 мм) не превышена.",
        "Is it? asked the resident.",
    ],
)
def test_an_abbreviation_an_initial_or_a_decimal_does_not_end_a_sentence(text: str) -> None:
    assert parts(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ("Первое. Второе! Третье?", ["Первое.", "Второе!", "Третье?"]),
        ("Приказ принят в 2020 г. Он действует.", ["Приказ принят в 2020 г.", "Он действует."]),
        ("Норма 120 мм рт. ст. Выше лечат.", ["Норма 120 мм рт. ст.", "Выше лечат."]),
        ("Норма 140 мм. рт. ст. Выше лечат.", ["Норма 140 мм. рт. ст.", "Выше лечат."]),
        ("Длина 5 см. Ширина 3 см.", ["Длина 5 см.", "Ширина 3 см."]),
        ("КТ, МРТ и т. д. Остальное ниже.", ["КТ, МРТ и т. д.", "Остальное ниже."]),
        ("Предел 20 мСв. 50 мСв допустимы за год.", ["Предел 20 мСв.", "50 мСв допустимы за год."]),
        ("«Предел 20 мСв.» Далее.", ["«Предел 20 мСв.»", "Далее."]),
        ("He said “no.” Then left.", ["He said “no.”", "Then left."]),
        ("Limit is 20 mSv. [1] Next.", ["Limit is 20 mSv. [1]", "Next."]),
        ("Limit is 20 mSv.[1][3] and so on.", ["Limit is 20 mSv.[1][3]", "and so on."]),
        ("Limit is 20 mSv [2]. Next.", ["Limit is 20 mSv [2].", "Next."]),
        ("Limit is 20 mSv. [1]. Next.", ["Limit is 20 mSv. [1].", "Next."]),
        ("**Note.** Text.", ["**Note.**", "Text."]),
        ("No. The scan is clear.", ["No.", "The scan is clear."]),
    ],
)
def test_a_stop_ends_a_sentence_and_keeps_its_quote_and_markers(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_headings_list_items_and_table_rows_end_with_their_line() -> None:
    text = (
        "## 1. Scope. Limits\nText goes\non here. Then\n- first item. More\n- second\n12. twelfth\n"
        "| Доза. Год | мСв |\n|---|---|\n| a. B | 20 |\n\nПосле таблицы"
    )
    assert parts(text) == [
        "## 1. Scope. Limits",
        "Text goes\non here.",
        "Then",
        "- first item.",
        "More",
        "- second",
        "12. twelfth",
        "| Доза. Год | мСв |",
        "|---|---|",
        "| a. B | 20 |",
        "После таблицы",
    ]


def test_a_quoted_list_number_does_not_end_the_quote() -> None:
    assert parts("- «1. Предел дозы 20 мСв.» [1]") == ["- «1. Предел дозы 20 мСв.» [1]"]


def test_only_text_that_can_no_longer_change_is_finished() -> None:
    assert finished_sentences("One.") == []
    assert finished_sentences("One. ") == []
    assert finished_sentences("One. [") == []
    assert finished_sentences("One. [1]") == []
    assert finished_sentences("One. [1] T") == [(0, 9)]
    assert finished_sentences("One. T") == [(0, 5)]
    assert finished_sentences("One. t") == []
    assert finished_sentences("Item\n1") == []
    assert finished_sentences("Item\n1. x") == [(0, 5)]


PIECES = st.sampled_from(
    [
        "Доза",
        "доза",
        "T2",
        "2020",
        "г",
        "т",
        "е",
        "A",
        "b",
        "рис",
        "no",
        "1",
        "12",
        "-",
        "*",
        "#",
        "|",
        "`",
        ">",
        ".",
        ". ",
        "!",
        "?",
        "…",
        " ",
        "\n",
        "\n\n",
        "[1]",
        "[",
        "]",
        "«",
        "»",
        "“",
        "”",
        '"',
        "(",
        ")",
        ",",
        "—",
        "🙂",
        "=",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(max_examples=400, deadline=None)
def test_spans_cover_the_text_exactly_once(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentences(text)) == text


@given(st.lists(PIECES, max_size=30).map("".join), st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=1500, deadline=None)
def test_a_finished_sentence_stays_whatever_follows(text: str, more: str) -> None:
    finished = finished_sentences(text)
    assert sentences(text + more)[: len(finished)] == finished


@given(st.text(max_size=60), st.text(max_size=20))
@settings(max_examples=500, deadline=None)
def test_any_unicode_is_covered_and_stable(text: str, more: str) -> None:
    finished = finished_sentences(text)
    whole = sentences(text + more)
    assert whole[: len(finished)] == finished
    assert "".join((text + more)[start:end] for start, end in whole) == text + more


def test_empty_text_has_no_sentences() -> None:
    assert sentences("") == []
    assert finished_sentences("") == []
