"""Russian and Western text is read whatever it was encoded in; what cannot be read for sure is refused."""

import pytest

from ingest.encoding import decode
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
