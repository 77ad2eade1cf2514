"""Russian and Western text is read whatever it was encoded in; what cannot be read for sure is refused."""

import pytest

from ingest.encoding import decode, flags_of
from radrag.errors import InvalidArgument

RUSSIAN = "Доза облучения пациента при КТ головы не должна превышать 60 мГр. МРТ Т2-ВИ, BI-RADS 4A."
FRENCH = "L'échographie rénale a été réalisée à l'hôpital, sans préparation particulière."


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1251", "koi8_r", "cp866"]
)
def test_russian_text_is_read_in_every_encoding_it_comes_in(encoding: str) -> None:
    assert decode("a.txt", RUSSIAN.encode(encoding))[0] == RUSSIAN


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_western_text_is_read(encoding: str) -> None:
    assert decode("a.txt", FRENCH.encode(encoding))[0] == FRENCH


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r"])
def test_short_russian_text_is_read(encoding: str) -> None:
    assert decode("a.txt", "Снимок лёгких".encode(encoding))[0] == "Снимок лёгких"


@pytest.mark.parametrize("declared", [None, "windows-1251", "iso-8859-1", "utf-8", "no-such-encoding"])
def test_a_wrong_declaration_does_no_harm(declared: str | None) -> None:
    assert decode("a.html", RUSSIAN.encode("cp1251"), declared)[0] == RUSSIAN


def test_utf8_with_a_broken_byte_is_refused_and_the_byte_is_named() -> None:
    data = RUSSIAN.encode()
    with pytest.raises(InvalidArgument, match="UTF-8 is invalid at byte 40"):
        decode("a.md", data[:40] + b"\xff" + data[40:])


def test_nul_characters_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="NUL"):
        decode("a.md", b"text\x00text")


def test_bytes_that_no_encoding_explains_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="no known encoding"):
        decode("a.txt", bytes(range(128, 256)) * 3)


def test_letters_read_as_signs_are_no_sense() -> None:
    text = "Снимок органов грудной клетки выполняется в прямой проекции."
    assert decode("a.txt", text.encode("cp1251")) == (text, "cp1251")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("rest", [b"abcd\xff", b"# A heading of ASCII\xff"])
def test_a_mark_that_the_bytes_belie_is_refused(mark: bytes, rest: bytes) -> None:
    with pytest.raises(InvalidArgument, match="begins with the mark of UTF-"):
        decode("a.md", mark + rest)


@pytest.mark.parametrize("text", [b"hello!", b"# A heading\n\nand text"])
def test_ascii_behind_a_mark_of_utf16_is_no_chinese(text: bytes) -> None:
    with pytest.raises(InvalidArgument, match="mark of UTF-16"):
        decode("a.md", b"\xff\xfe" + text)


@pytest.mark.parametrize("stray", [b"dose\xff\xfe", b"the \xff\xfe dose", b"caf\xe9 \x01\x02"])
def test_stray_bytes_and_control_characters_are_no_text_of_any_encoding(stray: bytes) -> None:
    with pytest.raises(InvalidArgument, match="no known encoding"):
        decode("a.md", b"# Doses\n\n" + stray)


def test_a_broken_byte_among_signs_of_utf8_is_named_and_not_guessed() -> None:
    with pytest.raises(InvalidArgument, match="UTF-8 is invalid at byte 11"):
        decode("a.md", "20 ± 2 °C ".encode()[:11] + b"\xff more")


def test_a_declared_name_is_flagged_by_the_usual_one() -> None:
    assert flags_of("windows-1251") == ("guessed_encoding:cp1251",)
