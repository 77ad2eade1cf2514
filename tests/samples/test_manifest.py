"""The manifest and the committed texts say the same."""

import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
import yaml

from samples.build import DOCUMENTS, MANIFEST, Entry
from tests.samples.texts import headings_of, words_of

TOPICS = {"safety", "physics", "regulation", "anatomy", "reference_values", "terminology", "templates"}
CATEGORIES = {"web", "methodological", "textbook", "article", "regulatory"}
ENTRIES = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["documents"]


def source_of(entry: dict[str, str]) -> Path:
    return Entry(entry["file"], entry["language"]).source


def test_every_text_is_in_the_manifest_and_the_other_way_round() -> None:
    assert {source_of(entry) for entry in ENTRIES} == {
        path for path in DOCUMENTS.rglob("*") if path.is_file()
    }


def test_ids_are_used_once() -> None:
    assert [key for key, uses in Counter(entry["id"] for entry in ENTRIES).items() if uses > 1] == []


def test_each_topic_has_three_documents_in_each_language() -> None:
    counts = Counter((entry["topic"], entry["language"]) for entry in ENTRIES)
    assert counts == {(topic, language): 3 for topic in TOPICS for language in ("en", "ru")}


def test_all_four_formats_are_there() -> None:
    formats = Counter(entry["file"].rsplit(".", 1)[1] for entry in ENTRIES)
    assert formats == {"html": 12, "md": 14, "docx": 8, "pdf": 8}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["id"]))
def test_an_entry_fits_its_text(entry: dict[str, str]) -> None:
    assert entry["file"].startswith(f"{entry['topic']}/")
    assert entry["title"] == headings_of(source_of(entry))[0]
    assert entry["category"] in CATEGORIES
    assert (re.search("[а-яё]", entry["title"]) is not None) == (entry["language"] == "ru")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["id"]))
def test_an_entry_names_the_public_source_of_its_values(entry: dict[str, object]) -> None:
    assert str(entry["source_uri"]).startswith(("https://", "http://"))
    assert entry["source"]
    assert entry["licence"] == "Apache-2.0"
    assert date.fromisoformat(str(entry["valid_from"])) < date(2026, 12, 1)
    values = entry["values"]
    assert isinstance(values, list)
    assert values
    assert all(value["value"] and value["source"] for value in values)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["id"]))
def test_a_text_has_300_to_1500_words(entry: dict[str, str], built: Path) -> None:
    assert 300 <= len(re.findall(r"\w+", words_of(built / entry["file"]))) <= 1500
