"""The check of a page's own text: what makes it unreadable is found, what is merely unusual is left alone."""

import pytest

from ingest.letters import is_mixed, likeness, unmixed
from ingest.textlayer import TextLayer

RUSSIAN = (
    "Рентгенологическое исследование органов грудной клетки выполняется в прямой и боковой проекциях. При "
    "подозрении на патологию средостения показана компьютерная томография с контрастированием, а её "
    "результаты сравнивают с прежними снимками, которые хранятся в архиве отделения не менее пяти лет."
)
ENGLISH = (
    "A chest radiograph is taken in two projections. When disease of the mediastinum is suspected, computed "
    "tomography with contrast follows, and its results are compared with earlier images, which the "
    "department keeps in its archive for at least five years after the last examination of the patient."
)
SHIFTED = str.maketrans(  # what a font without a map to Unicode gave for real orders of a ministry
    "абвгдежзийклмнопрстуфхцчшщъыьэюя", "ZB;]^_`abcdefghijklmnopqrstuvwxy"
)


@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH, f"{RUSSIAN}\n{ENGLISH}"])
def test_text_of_either_language_passes(text: str) -> None:
    layer = TextLayer(text)
    assert layer.reasons == ()
    assert layer.quality > 0.85


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("GLYPH<12>GLYPH<7> GLYPH<33>GLYPH<1> " * 20, "glyph_names"),
        ("(cid:12)(cid:44)(cid:9) (cid:101)", "glyph_names"),
        ("/g12/g7 /g33/g1 /g5", "glyph_names"),
        ("/uni0412/uni0440/uni0430/uni0447", "glyph_names"),
        (RUSSIAN.lower().translate(SHIFTED), "unlikely_letters"),
        (RUSSIAN.encode("cp1251").decode("latin-1"), "wrong_encoding"),
        ("\ufffd\ufffd\ufffd текст \ue012\ue013 ещё", "broken_characters"),
        ("䴀甀氀琀椀挀漀氀漀爀 䈀氀愀挀欀", "foreign_characters"),
        (RUSSIAN.replace(" ", "").replace(",", "").replace(".", ""), "no_spaces"),
        (" ".join(RUSSIAN.replace(" ", "")), "letters_apart"),
        (RUSSIAN.replace("о", "o").replace("е", "e"), "mixed_alphabets"),
        ('"7+%-/&*$#@!', "signs"),
    ],
)
def test_what_cannot_be_read_is_found_and_named(text: str, reason: str) -> None:
    assert reason in TextLayer(text).reasons


def test_a_page_under_a_picture_with_hardly_a_letter_is_a_picture_of_text() -> None:
    assert TextLayer("стр. 3", picture=0.98).reasons == ("picture",)
    assert TextLayer("", picture=0.98).reasons == ("picture",)


def test_a_picture_with_a_readable_text_layer_is_not_read_again() -> None:
    """As a scan that a program before us has read."""
    assert TextLayer(RUSSIAN, picture=1.0).reasons == ()


def test_a_page_without_a_letter_is_looked_at() -> None:
    assert TextLayer("").reasons == ("no_letters",)


@pytest.mark.parametrize(
    "text",
    [
        "Содержание\n" + "Глава 1 ................................. 12\n" * 12,  # leader dots
        "N, п/п | CTDIvol | DLP\n" + "КТ 120 кВ 250 мАс 1,25 мм\n" * 15,  # codes and numbers
        "T1, T2, STIR, FLAIR, DWI, ADC, SWI, MRA, МРТ, КТ, УЗИ, ПЭТ\n" * 4,
    ],
)
def test_contents_tables_and_codes_are_no_garbage(text: str) -> None:
    assert TextLayer(text).reasons == ()


def test_words_in_two_alphabets_are_put_into_the_one_they_belong_to() -> None:
    """A search would miss them: the engine wrote look-alike letters."""
    assert unmixed("cтeнoз aopты") == "стеноз аорты"
    assert unmixed("contrаst agеnt") == "contrast agent"


def test_codes_and_units_keep_their_letters() -> None:
    for text in ("МРТ T2 CT B12 В12 С7 мкSv", "T2-взвешенное", "ЛПНП LDL", "COCHA"):
        assert unmixed(text) == text


def test_a_word_no_look_alike_explains_is_counted_and_left() -> None:
    assert is_mixed("мкSv")
    assert unmixed("мкSv") == "мкSv"
    assert not is_mixed("Т2w1")


def test_likeness_tells_a_cipher_from_a_language() -> None:
    assert likeness(RUSSIAN.lower().translate(SHIFTED)) < 0.55 < 0.85 < likeness(RUSSIAN)
