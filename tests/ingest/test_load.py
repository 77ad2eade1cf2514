"""Bad files are refused early, each by a sentence that names the file, the field and the limit."""

from pathlib import Path

import pytest

from ingest.load import Limits, load, source_of
from radrag.errors import InvalidArgument
from tests.ingest import files

PDF = files.pdf([files.body("One line.")])


def of_version(archive: bytes, version: int) -> bytes:
    """The archive, its first entry in need of this version of the format (in tenths)."""
    at = archive.index(b"PK\x01\x02") + 6
    return archive[:at] + version.to_bytes(2, "little") + archive[at + 2 :]


@pytest.mark.parametrize(
    ("name", "data", "field", "said"),
    [
        ("empty.pdf", b"", "size", "empty (0 bytes)"),
        ("large.txt", b"x" * 101, "size", "101 bytes; the limit is 100"),
        ("cut.pdf", PDF[: len(PDF) // 2], "content", "truncated"),
        ("page.pdf", b"hello", "type", "does not begin like one"),
        ("notes.docx", b"hello", "type", "does not begin like one"),
        ("archive.docx", files.archive({"a.txt": b"a"}), "type", "word/document.xml"),
        ("broken.docx", files.word_file()[:2000], "content", "damaged or truncated"),
        ("future.docx", of_version(files.word_file(), 202), "content", "damaged or truncated"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", "type", "old Office file"),
        ("scan.png", b"\x89PNG\r\n", "type", "picture"),
        ("data.xyz", b"hello", "type", "suffix .xyz is unknown"),
        ("README", b"hello", "type", "has no suffix"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_the_field_and_the_reason(
    name: str, data: bytes, field: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as failure:
        source_of(name, data, Limits(file_bytes=100 if name == "large.txt" else 10_000_000))
    assert failure.value.field == field
    assert name in failure.value.limit
    assert said in failure.value.limit


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = files.archive({"word/document.xml": b"0" * 30_000_000})
    with pytest.raises(InvalidArgument, match=r"unpacks to 30,000,000 bytes; the limit is 10,000,000"):
        source_of("bomb.docx", bomb)


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="it is a directory"):
        load(tmp_path)
    with pytest.raises(InvalidArgument, match="cannot be opened"):
        load(tmp_path / "missing.md")


def test_a_file_too_large_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "sparse.txt"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(InvalidArgument, match=r"1,000,000,000,000 bytes; the limit is 100,000,000"):
        load(path)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.txt", PDF, "pdf"),
        ("a.bin", files.word_file(), "docx"),
        ("a.txt", b"<!DOCTYPE html><p>x", "html"),
        ("a.htm", b"<p>x", "html"),
        ("a.MD", b"# x", "markdown"),
        ("a.txt", b"x", "text"),
    ],
)
def test_content_says_what_a_file_is_before_its_name(name: str, data: bytes, kind: str) -> None:
    assert source_of(name, data).kind == kind
