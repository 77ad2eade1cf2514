"""Which words the reranker takes for the same, and how much each weighs."""

from pathlib import Path

import pytest
from concepts import concepts
from matching import SAME_THING, Vocabulary, sound
from question import subject_words
from rarity import LEAST, MOST, Rarity
from words import is_cyrillic, words

from tests.model_repository.conftest import FILES


def likeness(word: str, text: str) -> float:
    return Vocabulary(words(text)).likeness(words(word)[0])


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("доза", "Превышение дозы опасно"),
        ("limits", "The limit is 20 mSv"),
        ("Т2", "T2 hyperintense"),
        ("4А", "BI-RADS 4a"),
        ("0,5", "at most 0.5 mSv"),
        ("МРТ", "an MRI scan"),
        ("мЗв", "20 mSv a year"),
        ("DRLs", "the national DRL"),
        ("ребёнок", "ребенок"),
    ],
)
def test_forms_scripts_and_decimal_marks_of_one_word_fall_together(asked: str, text: str) -> None:
    assert likeness(asked, text) == 1


@pytest.mark.parametrize(
    ("asked", "text"), [("почка", "renal cortex"), ("kidney", "почечная лоханка"), ("hepatic", "the liver")]
)
def test_words_of_one_meaning_match_within_and_across_languages(asked: str, text: str) -> None:
    assert likeness(asked, text) == SAME_THING


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("остеомиелит", "osteomyelitis of the tibia"),
        ("гистиоцитоз", "histiocytosis"),
        ("tularaemia", "туляремия"),
    ],
)
def test_words_from_greek_and_latin_match_by_sound(asked: str, text: str) -> None:
    assert 0.6 <= likeness(asked, text) <= 1


@pytest.mark.parametrize(
    ("asked", "text"),
    [("T2", "T1 and T3"), ("4A", "4B"), ("доза", "почка"), ("liver", "kidney"), ("1.5", "15")],
)
def test_another_word_or_code_does_not_match(asked: str, text: str) -> None:
    assert likeness(asked, text) == 0


def test_words_know_where_they_stand() -> None:
    text = "🙂 T2-ВИ, 0,5 мЗв"
    assert [text[word.start : word.end] for word in words(text)] == ["T2", "ВИ", "0,5", "мЗв"]


def test_words_that_only_shape_a_question_are_left_out_unless_there_are_no_others() -> None:
    assert [word.stem for word in subject_words("Какова доза при КТ?")] == ["доз", "ct"]
    assert [word.stem for word in subject_words("What is it?")] == ["what", "is", "it"]
    assert subject_words("…?") == []


def test_a_concept_belongs_to_both_languages() -> None:
    assert concepts(words("kidney")[0].stem) & concepts(words("почечный")[0].stem)


def test_sound_is_without_doubled_letters_and_case_endings() -> None:
    assert sound("пневмоторакс")[:9] == sound("pneumothorax")[:9]


def test_the_script_is_that_of_most_letters() -> None:
    assert is_cyrillic("МРТ с T2-ВИ")
    assert not is_cyrillic("The word МРТ in English")
    assert not is_cyrillic("123")


def test_rare_words_weigh_more_within_bounds() -> None:
    rarity = Rarity.load(FILES / "tokenizer.json")
    assert rarity.of([]) == LEAST
    assert LEAST <= rarity.of([70]) <= rarity.of([200_000, 200_001]) <= MOST


def test_every_concept_line_holds_both_languages() -> None:
    lines = (
        Path(__file__).parents[2] / "model_repository/lexical_late_interaction/1/concepts.txt"
    ).read_text("utf-8")
    for line in lines.splitlines():
        if line and not line.startswith("#"):
            english, russian = line.split("|")
            assert not is_cyrillic(english), line
            assert is_cyrillic(russian) or not words(russian), line
