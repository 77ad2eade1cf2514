"""A manifest says of each file what no parser can know; a fault in it names the entry and the field."""

from datetime import date
from pathlib import Path

import pytest

from ingest.document import Metadata, Parsed
from ingest.identity import check_metadata, document_of
from ingest.language import language_of
from ingest.manifest import read_manifest
from ingest.secret_uri import secret_in
from radrag.errors import InvalidArgument

ENTRY = """
documents:
- id: mr-zones
  file: safety/mr.html
  title: "Zones: МРТ"
  topic: safety
  category: regulatory
  source_uri: https://example.org/mr
  valid_from: '2024-04-01'
  valid_to: 2030-01-01
  values: [ignored]
- file: b.md
"""


def manifest(folder: Path, text: str) -> Path:
    path = folder / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_entries_become_items_below_the_manifests_folder(tmp_path: Path) -> None:
    full, bare = read_manifest(manifest(tmp_path, ENTRY))
    assert (full.path, full.name) == (tmp_path / "safety/mr.html", "safety/mr.html")
    assert full.metadata == Metadata(
        document_id="mr-zones",
        title="Zones: МРТ",
        topic="safety",
        category="regulatory",
        source_uri="https://example.org/mr",
        valid_from=date(2024, 4, 1),
        valid_to=date(2030, 1, 1),
    )
    assert bare.metadata == Metadata()


def test_files_can_lie_in_another_folder(tmp_path: Path) -> None:
    first, _ = read_manifest(manifest(tmp_path, ENTRY), Path("/built"))
    assert first.path == Path("/built/safety/mr.html")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("documents: [{id: x}]", "documents[0].file"),
        ("documents: [{file: a, category: blog}]", "documents[0].category"),
        ("documents: [{file: a, valid_from: soon}]", "documents[0].valid_from"),
        ("documents: [{file: a, tier: 9}]", "documents[0].tier"),
        ("documents: [{file: a, access_labels: x}]", "documents[0].access_labels"),
        ("documents: 7", "manifest"),
        ("documents: [", "manifest"),
    ],
)
def test_a_fault_names_its_entry_and_field(tmp_path: Path, text: str, field: str) -> None:
    with pytest.raises(InvalidArgument) as failure:
        read_manifest(manifest(tmp_path, text))
    assert failure.value.field == field


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        (Metadata(topic="cooking"), "topic"),
        (Metadata(topic="Safety!"), "topic"),
        (Metadata(), "topic"),
        (Metadata(topic="safety", document_id="x" * 201), "id"),
        (Metadata(topic="safety", document_id="https://e.org/?key=abc"), "id"),
        (Metadata(topic="safety", source_uri="https://e.org/?access_token=abc"), "source_uri"),
        (Metadata(topic="safety", source_uri="https://someone:abc@e.org/"), "source_uri"),
        (Metadata(topic="safety", valid_from=date(2024, 1, 2), valid_to=date(2024, 1, 1)), "valid_to"),
    ],
)
def test_metadata_the_index_would_refuse_is_refused_before_reading(metadata: Metadata, field: str) -> None:
    with pytest.raises(InvalidArgument, match=r"a\.md") as failure:
        check_metadata("a.md", metadata, ("safety",))
    assert failure.value.field == field
    assert "abc" not in str(failure.value)


@pytest.mark.parametrize(
    "uri",
    [
        "https://e.org/a?page=2&author=x&keywords=key&session=3",
        "https://e.org/policy?monkey=1#part-2",
        "file:///srv/глава 1.pdf",
        "ISO 9001: 2015",
        "http://[broken",
    ],
)
def test_an_ordinary_address_carries_no_secret(uri: str) -> None:
    assert secret_in(uri) == ""


@pytest.mark.parametrize(
    "uri",
    [
        "https://e.org/a?accessToken=abc",
        "https://e.org/a?PHPSESSID=abc",
        "https://e.org/a#id_token=abc",
        "https://e.org/a?x=eyJhbGciOiJIUz.eyJzdWIi",
        "https://e.org/a?token%3Dabc",
    ],
)
def test_a_secret_is_named_and_never_shown(uri: str) -> None:
    assert secret_in(uri)
    assert "abc" not in secret_in(uri)
    assert "eyJ" not in secret_in(uri)


def test_id_title_and_language_are_found_where_they_are_not_given() -> None:
    parsed = Parsed("# МРТ\n\nТ2-ВИ без контраста.\n", "МРТ", "markdown")
    bare = document_of("safety/mr.md", Metadata(), parsed)
    assert (bare.document_id, bare.title, bare.language) == ("safety/mr.md", "МРТ", "ru")
    sourced = document_of("mr.md", Metadata(source_uri="https://e.org/x", title="T", language="en"), parsed)
    assert (sourced.document_id, sourced.title, sourced.language) == ("https://e.org/x", "T", "en")
    assert (
        len(document_of("mr.md", Metadata(source_uri="https://e.org/" + "x" * 300), parsed).document_id) == 64
    )


def test_the_version_is_the_texts_hash_and_nothing_else() -> None:
    one, other = (document_of(name, Metadata(), Parsed("a\n", "", "text")) for name in ("a.txt", "b.txt"))
    assert one.version == other.version == one.sha256[:16]


def test_codes_in_latin_letters_do_not_make_a_russian_text_english() -> None:
    assert language_of("BI-RADS 4A, MRI T2, CTDIvol: доза") == "en"
    assert language_of("Категория BI-RADS 4A по данным МРТ") == "ru"
    assert language_of("12.5 %") == "en"


@pytest.mark.parametrize("name", ["file", "id", "title", "topic", "source_uri", "category", "valid_from"])
def test_a_list_that_repeats_itself_by_name_is_no_text(tmp_path: Path, name: str) -> None:
    """Written out it would be of a thousand million words."""
    lists = ["a0: &a0 [dose, dose, dose, dose, dose, dose, dose, dose]"]
    lists += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 10)]
    entry = (
        f"documents:\n  - {{file: a.md, {name}: *a9}}" if name != "file" else "documents:\n  - {file: *a9}"
    )
    (tmp_path / "manifest.yaml").write_text("\n".join([*lists, entry]))
    with pytest.raises(InvalidArgument, match=rf"documents\[0\]\.{name}: must be a text"):
        read_manifest(tmp_path / "manifest.yaml")
