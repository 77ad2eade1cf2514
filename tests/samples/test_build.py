"""The built files are real ones of their kind, and building is repeatable."""

from pathlib import Path

import pytest
from docx import Document
from pypdf import PdfReader

from samples.build import Entry, build, entries
from samples.text_source import Item, parse
from tests.samples.texts import headings_of

PDFS = [entry for entry in entries() if entry.file.endswith(".pdf")]
WORDS = [entry for entry in entries() if entry.file.endswith(".docx")]


def test_the_same_sources_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    for path in build(tmp_path):
        assert path.read_bytes() == (built / path.relative_to(tmp_path)).read_bytes(), path.name


def test_a_rebuild_leaves_equal_files_alone(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in build(tmp_path)}
    assert {path: path.stat().st_mtime_ns for path in build(tmp_path)} == before


def test_what_left_the_manifest_leaves_the_folder(tmp_path: Path) -> None:
    build(tmp_path)
    manifest, old, own = tmp_path / "manifest.yaml", tmp_path / "safety" / "old.md", tmp_path / "own.md"
    manifest.write_text(manifest.read_text() + "- {id: old, file: safety/old.md, language: en}\n")
    old.write_text("# Old\n")
    own.write_text("# Not ours\n")
    build(tmp_path)
    assert (old.exists(), own.exists()) == (False, True)


@pytest.mark.parametrize("entry", PDFS, ids=lambda entry: str(entry.file))
def test_a_pdf_has_two_pages_and_a_bookmark_for_each_heading(entry: Entry, built: Path) -> None:
    reader = PdfReader(built / entry.file)
    assert len(reader.pages) == 2
    assert flat(reader.outline) == headings_of(entry.source)


def flat(outline: object) -> list[str]:
    if isinstance(outline, list):
        return [title for part in outline for title in flat(part)]
    return [str(outline["/Title"])]  # type: ignore[index]


@pytest.mark.parametrize("entry", WORDS, ids=lambda entry: str(entry.file))
def test_a_word_file_has_headings_lists_and_a_table_with_a_header(entry: Entry, built: Path) -> None:
    word = Document(str(built / entry.file))
    styles = {paragraph.style.name for paragraph in word.paragraphs if paragraph.style}
    assert styles >= {"Heading 1", "Heading 2"}
    assert styles & {"List Bullet", "List Number"}
    assert word.tables[0].rows[0]._tr.xpath("w:trPr/w:tblHeader")


def test_a_list_item_keeps_its_mark() -> None:
    assert parse("- one\n2. two\n") == [Item("•", "one"), Item("2.", "two")]


def test_a_table_with_rows_of_different_length_is_refused() -> None:
    with pytest.raises(ValueError, match="different length"):
        parse("| a | b |\n|---|---|\n| 1 |\n")
