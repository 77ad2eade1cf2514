"""Books that Debian ships as PDF and as HTML: the headings of one edition are the truth for the other."""

import gzip
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from evaluation.jsonl import DatasetError
from evaluation.pages import words

LEVELS = {f"h{level}" for level in range(1, 7)}


@dataclass(frozen=True)
class Book:
    """A Debian package and where its two editions lie below /usr/share/doc."""

    package: str
    pdf: str
    html: str


BOOKS = (
    Book("debian-faq", "debian/FAQ/debian-faq.en.pdf.gz", "debian/FAQ/*.en.html"),
    Book("debian-faq-ru", "debian/FAQ/debian-faq.ru.pdf.gz", "debian/FAQ/ru/*.ru.html"),
    Book("maint-guide-ru", "maint-guide-ru/maint-guide.ru.pdf", "maint-guide-ru/html/*.ru.html"),
)


def unpacked(book: Book, folder: Path) -> Path:
    """The package's `usr/share/doc`, fetched with apt unless its .deb lies in `folder`.

    Raises DatasetError when neither is possible.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / book.package
    try:
        if not any(folder.glob(f"{book.package}_*.deb")):
            _run("apt-get", "download", "-q", book.package, folder=folder)
        if not place.is_dir():
            (package,) = folder.glob(f"{book.package}_*.deb")
            _run("dpkg-deb", "-x", str(package.resolve()), book.package, folder=folder)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = f"{book.package} is not there and apt cannot fetch it; put its .deb into this folder"
        raise DatasetError(folder, 0, reason) from error
    return place / "usr" / "share" / "doc"


def _run(*words: str, folder: Path) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True)  # noqa: S603  fixed words


def pdf_of(book: Book, documents: Path) -> bytes:
    """The PDF edition."""
    data = (documents / book.pdf).read_bytes()
    return gzip.decompress(data) if book.pdf.endswith(".gz") else data


def true_headings(book: Book, documents: Path) -> list[str]:
    """The words of each heading of the HTML edition."""
    return [title for page in sorted(documents.glob(book.html)) for title in titles(page.read_text("utf-8"))]


def titles(html: str) -> Iterator[str]:
    """The words of each h1 to h6 that has some."""
    reader = Titles()
    reader.feed(html)
    yield from filter(None, (" ".join(words(title)) for title in reader.found))


class Titles(HTMLParser):
    """Gathers the text of headings."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """A heading opens."""
        if tag in LEVELS:
            self.found.append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        """A heading ends."""
        self._inside = self._inside and tag not in LEVELS

    def handle_data(self, data: str) -> None:
        """Text, of a heading or not."""
        if self._inside:
            self.found[-1] += data
