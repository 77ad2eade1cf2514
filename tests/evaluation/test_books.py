"""Books in two editions: what their HTML has as headings, and a package that cannot be had."""

import gzip
import subprocess
from pathlib import Path

import pytest

from evaluation.books import Book, pdf_of, titles, true_headings, unpacked
from evaluation.jsonl import DatasetError

BOOK = Book("tiny-book", "tiny/tiny.pdf.gz", "tiny/*.html")


def package(folder: Path) -> None:
    """A real .deb with both editions."""
    tree = folder / "tree"
    documents = tree / "usr" / "share" / "doc" / "tiny"
    documents.mkdir(parents=True)
    (documents / "tiny.pdf.gz").write_bytes(gzip.compress(b"%PDF-"))
    (documents / "a.html").write_text("<h1>Глава&#160;1. <em>Дозы</em></h1><p>text</p><h2></h2>", "utf-8")
    (tree / "DEBIAN").mkdir()
    control = "Package: tiny-book\nVersion: 1\nArchitecture: all\nMaintainer: n\nDescription: d\n"
    (tree / "DEBIAN" / "control").write_text(control)
    done = ["dpkg-deb", "--root-owner-group", "-b", str(tree), str(folder / "tiny-book_1_all.deb")]
    subprocess.run(done, check=True, capture_output=True)


def test_a_heading_is_its_words_whatever_marks_stand_in_it() -> None:
    assert list(titles("<h1>A &amp; <b>b</b></h1>text<h7>no</h7><h6>c</h6>")) == ["a b", "c"]


def test_both_editions_come_out_of_the_package(tmp_path: Path) -> None:
    package(tmp_path)
    documents = unpacked(BOOK, tmp_path)
    assert true_headings(BOOK, documents) == ["глава 1 дозы"]
    assert pdf_of(BOOK, documents) == b"%PDF-"


def test_a_package_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no-such-book is not there"):
        unpacked(Book("no-such-book", "", ""), tmp_path)
