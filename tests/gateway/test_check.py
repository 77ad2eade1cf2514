"""A sentence is released as verified only when a source says it: the table of what must and must not pass."""

import pytest

from gateway.check import Checked, Checker
from tests.gateway.fakes import passage

TABLE = "| Organ | Limit, mSv |\n| --- | --- |\n| Lens | 20 |\n| Skin | 500 |\n"
SOURCES = (
    passage(
        "icrp",
        "The annual dose limit for workers is **20 mSv**, averaged over five years. In no single year may "
        "it exceed 50 mSv.\nMetformin is not stopped when eGFR is above 30 ml/min. "
        "Lesions of BI-RADS 4B need a biopsy [12].\n" + TABLE,
    ),
    passage(
        "sanpin",
        "Предел эффективной дозы для персонала составляет 20 мЗв в год. Контрастирование не рекомендуется "
        "при тиреотоксикозе. Толщина среза 0,5 мм, на Т2-ВИ сигнал повышен. Доза на входе 5–10 мГр.\n"
        "- предел — «20 мЗв» для хрусталика;\n",
        language="ru",
    ),
)
CHECKER = Checker(SOURCES)


def check(sentence: str) -> Checked:
    return CHECKER.check(sentence)


TRUE = [
    "- “In no single year may it exceed 50 mSv.” [1]",
    "“The annual dose limit for workers is 20 mSv, averaged over five years.” [1]",
    "“the annual dose limit for workers is 20 mSv” [1]",
    "According to the source: “Metformin is not stopped when eGFR is above 30 ml/min.” [1]",
    "- «Предел эффективной дозы для персонала составляет 20 мЗв в год.» [2]",
    "- «Предел  эффективной\u00a0дозы для персонала составляет 20 мЗв в год.» [2]",
    "- «на T2-ВИ сигнал повышен» [2]",
    '- «предел – "20 мЗв" для хрусталика» [2]',
    "- «| Organ | Limit, mSv |» «| Lens | 20 |» [1]",
    "The annual dose limit for workers is 20 mSv [1].",
    "For workers the annual dose limit is 20 mSv, averaged over five years [1].",
    "Metformin is not stopped above an eGFR of 30 ml/min [1].",
    "Предел эффективной дозы персонала — 20 мЗв в год [2].",
    "При тиреотоксикозе контрастирование не рекомендуется [2].",
    "Доза на входе составляет 5-10 мГр [2].",
    "Толщина среза 0.5 мм [2].",
    "The limit for the lens is 20 mSv [1].",
    "Therefore, the annual dose limit for workers is 20 mSv [1].",
    "Lesions of BI-RADS 4B need a biopsy [1].",
    "The annual dose limit for workers is 20 mSv [1][2].",
]
FALSE = {
    "comparison before a quote": [
        "≥ “The annual dose limit for workers is 20 mSv, averaged over five years.” [1]",
    ],
    "wrong marker": [
        "The annual dose limit for workers is 20 mSv [2].",
        "- «Предел эффективной дозы для персонала составляет 20 мЗв в год.» [1]",
    ],
    "marker out of range": ["The annual dose limit for workers is 20 mSv [3].", "Дозы малы [0]."],
    "altered digit": [
        "“In no single year may it exceed 60 mSv.” [1]",
        "In no single year may it exceed 60 mSv [1].",
        "- «Предел эффективной дозы для персонала составляет 21 мЗв в год.» [2]",
        "Толщина среза 0,6 мм [2].",
        "Толщина среза 5 мм [2].",
        "The limit for the skin is 20 mSv [1].",
    ],
    "cut number": [
        "“In no single year may it exceed 5” [1]", "- «Толщина среза 0» [2]", "- «5 мм, на Т2-ВИ» [2]",
    ],
    "swapped unit": [
        "In no single year may it exceed 50 μSv [1].",
        "In no single year may it exceed 50 mGy [1].",
        "Предел эффективной дозы для персонала составляет 20 мкЗв в год [2].",
        "Предел эффективной дозы для персонала составляет 20 Зв в год [2].",
        "Доза на входе 5–10 Гр [2].",
    ],
    "dropped negation": [
        "Metformin is stopped when eGFR is above 30 ml/min [1].",
        "“stopped when eGFR is above 30 ml/min” [1]",
        "Контрастирование рекомендуется при тиреотоксикозе [2].",
        "- «рекомендуется при тиреотоксикозе» [2]",
    ],
    "added negation": ["Lesions of BI-RADS 4B need no biopsy [1]."],
    "changed category": [
        "Lesions of BI-RADS 4A need a biopsy [1].", "“Lesions of BI-RADS 4A need a biopsy” [1]",
    ],
    "opposite": [
        "Metformin is not stopped when eGFR of the patient is below 30 ml/min [1].",
        "На Т2-ВИ сигнал снижен [2].",
    ],
    "nothing said": ["[1]", "See [1]."],
    "changed sequence": ["На Т1-ВИ сигнал повышен [2]."],
    "from memory": ["The annual dose limit for workers is 20 mSv.", "Contrast is safe in pregnancy [1]."],
    "a true quote under a false claim": [
        "Contrast is safe in pregnancy: “In no single year may it exceed 50 mSv.” [1]",
        "It is not true that “In no single year may it exceed 50 mSv.” [1]",
        "For pilots: “The annual dose limit for workers is 20 mSv, averaged over five years.” [1]",
    ],
    "a made-up quote beside a true one": [
        "“In no single year may it exceed 50 mSv.” “Coffee is good for you indeed.” [1]"
    ],
    "only a header row": ["- «Organ» and nothing else matters at all [1]."],
}  # fmt: skip


@pytest.mark.parametrize("sentence", TRUE)
def test_what_a_source_says_is_verified(sentence: str) -> None:
    assert check(sentence).verified, [vars(place) for place in check(sentence).places]


@pytest.mark.parametrize(
    ("kind", "sentence"), [(kind, one) for kind, sentences in FALSE.items() for one in sentences]
)
def test_what_no_source_says_is_not_verified_and_is_a_claim(kind: str, sentence: str) -> None:
    checked = check(sentence)
    assert not checked.verified
    assert checked.claims or kind == "nothing said"


def test_a_verified_place_is_the_sources_own_text() -> None:
    (place,) = check('- «предел – "20 мЗв" для хрусталика» [2]').places
    assert SOURCES[1].text[place.start : place.end] == "предел — «20 мЗв» для хрусталика"


def test_a_paraphrase_stands_on_the_sentence_that_says_it() -> None:
    (place,) = check("In no single year may it exceed 50 mSv [1].").places
    assert SOURCES[0].text[place.start : place.end] == "In no single year may it exceed 50 mSv."


@pytest.mark.parametrize(
    ("written", "released", "removed"),
    [
        ("Limit [1, 2].", "Limit [1][2].", 0),
        ("Limit [1][2].", "Limit [1][2].", 0),
        ("Limit [1-2].", "Limit [1][2].", 0),
        ("Limit [1–3].", "Limit [1][2].", 1),
        ("Limit [7].", "Limit.", 1),
        ("Limit [7] for all.", "Limit for all.", 1),
        ("Limit [1, 9].", "Limit [1].", 1),
        ("Limit [0].", "Limit.", 1),
        ("Предел 【2】.", "Предел [2].", 0),
        ("Limit [source 2].", "Limit [2].", 0),
        ("Предел [источник 1].", "Предел [1].", 0),
        ("Limit [1-999999].", "Limit.", 1),
        (f"Limit [{'9' * 6000}].", "Limit.", 1),
        ("Limit [a].", "Limit [a].", 0),
        ("Limit [[9]7].", "Limit.", 2),
        ("Limit [1[9]2].", "Limit.", 2),
    ],
)
def test_markers_leave_as_numbers_of_sources_or_not_at_all(written: str, released: str, removed: int) -> None:
    checked = check(written)
    assert (checked.text, checked.removed) == (released, removed)


def test_a_sources_own_reference_inside_a_quote_is_no_marker() -> None:
    checked = check("“Lesions of BI-RADS 4B need a biopsy [12].” [1]")
    assert checked.text == "“Lesions of BI-RADS 4B need a biopsy (12).” [1]"
    assert checked.verified
    assert not checked.removed


def test_each_claim_of_a_sentence_stands_on_its_own_markers() -> None:
    checked = check("Workers may get 20 mSv [2], and in no single year may it exceed 50 mSv [1].")
    assert [(place.number, place.verified) for place in checked.places] == [(2, False), (1, True)]


@pytest.mark.parametrize(
    "framing",
    [
        "According to the sources:",
        "По данным источников:",
        "## Ответ",
        "**Answer**",
        "Итог:",
        "Согласно источнику:",
    ],
)
def test_framing_claims_nothing(framing: str) -> None:
    assert not check(framing).claims


def test_controls_are_taken_out_and_text_is_composed() -> None:
    assert check("до\x00за и\u0306\u202e").text == "доза й"
