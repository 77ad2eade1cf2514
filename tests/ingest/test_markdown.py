"""Markdown and plain text become canonical text: NFC, line feeds, no front matter, no comments."""

import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.canonical import canonical
from ingest.document import Parsed
from ingest.load import Source
from ingest.markdown import parse_markdown, parse_text


def parsed(text: str) -> Parsed:
    return parse_markdown(Source("a.md", "markdown", text.encode()))


def test_front_matter_and_comments_go_and_the_title_is_the_first_heading() -> None:
    page = parsed("---\ntitle: x\n---\n\n# Дозы *КТ*\n\na <!-- b\nc --> d\n")
    assert page.markdown == "# Дозы *КТ*\n\na  d\n"
    assert page.title == "Дозы КТ"


def test_a_comment_inside_code_is_text() -> None:
    text = "```\n<!-- kept -->\n# no heading\n```\n"
    assert parsed(text).markdown == text
    assert parsed(text).title == ""


def test_comments_that_never_end_are_text_and_cost_no_time() -> None:
    text = "<!-- kept\n" * 40_000
    began = process_time()
    assert parsed(text).markdown == text
    assert process_time() - began < 5
    assert parsed("a <!-- gone --> b <!-- kept").markdown == "a  b <!-- kept\n"


def test_line_ends_and_composition_are_unified() -> None:
    assert parsed("и\u0306од\r\nbe\u0301ta\rx\u2028y").markdown == "йод\nbéta\nx\ny\n"


def test_plain_text_gets_no_headings_by_chance() -> None:
    source = Source("a.txt", "text", b"# 5 samples\ntext")
    assert parse_text(source).markdown == "\\# 5 samples\ntext\n"


@given(st.text())
def test_canonical_text_is_its_own_canonical_form(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not set("\r\x00\u2028") & set(once)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Dose #\n", "Dose"),
        ("# Dose ##  \n", "Dose"),
        ("# C#\n", "C#"),
        ("#\t*Dose*\n", "Dose"),
        ("# #\n\n## Dose\n", "Dose"),
        ("text\n", ""),
    ],
)
def test_marks_that_close_a_heading_are_no_part_of_the_title(text: str, title: str) -> None:
    assert parsed(text).title == title


@pytest.mark.parametrize("run", [" ", "\t", "#", "# ", " #", "`", "-", "<!--", "---\n", "```\n", "#\n"])
def test_a_long_run_of_anything_costs_no_more_than_it_is_long(run: str) -> None:
    began = process_time()
    for parse in (parse_markdown, parse_text):
        parse(Source("a.md", "markdown", f"# Dose{run * 50_000}end\n".encode()))
    assert process_time() - began < 10
