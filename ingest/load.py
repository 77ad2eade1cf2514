"""Reads a file's bytes within limits and refuses early what no parser could read."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ingest.kind import Kind, kind_of
from ingest.refusal import refused


@dataclass(frozen=True)
class Limits:
    """The largest files that are read, in bytes."""

    file_bytes: int = 100_000_000
    unpacked_bytes: int = 1_000_000_000
    zip_ratio: int = 200  # of a DOCX: unpacked by packed; ordinary ones stay below 50


@dataclass(frozen=True)
class Source:
    """A file's bytes and what they are."""

    name: str
    kind: Kind
    data: bytes


def load(path: Path, limits: Limits = Limits(), name: str = "") -> Source:
    """Reads one file, called `name` in messages. Raises InvalidArgument: which file, field and limit."""
    name = name or path.name
    if path.is_dir():
        raise refused(name, "file", "it is a directory; one file is expected")
    try:
        check_size(name, path.stat().st_size, limits)
        data = path.read_bytes()
    except OSError as error:
        raise refused(name, "file", f"it cannot be opened: {error.strerror}") from error
    return source_of(name, data, limits)


def source_of(name: str, data: bytes, limits: Limits = Limits()) -> Source:
    """The same for bytes that came another way. `name` is used for its suffix and in errors."""
    check_size(name, len(data), limits)
    kind = kind_of(name, Path(name).suffix, data)
    if kind == "pdf":
        check_pdf(name, data)
    if kind == "docx":
        check_docx(name, data, limits)
    return Source(name, kind, data)


def check_size(name: str, size: int, limits: Limits) -> None:
    if size == 0:
        raise refused(name, "size", "it is empty (0 bytes); at least 1 byte is needed")
    if size > limits.file_bytes:
        raise refused(name, "size", f"it has {size:,} bytes; the limit is {limits.file_bytes:,}")


def check_pdf(name: str, data: bytes) -> None:
    # A repairing reader would open the front half of such a file and nobody would miss the rest.
    if b"%%EOF" not in data[-2048:] and b"startxref" not in data[-2048:]:
        raise refused(name, "content", "the PDF is truncated: its end mark %%EOF is missing")


def check_docx(name: str, data: bytes, limits: Limits) -> None:
    try:
        entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:  # the second: of a version to come
        raise refused(name, "content", "the ZIP container is damaged or truncated") from error
    if "word/document.xml" not in {entry.filename for entry in entries}:
        raise refused(name, "type", "it is a ZIP archive but not a DOCX: word/document.xml is missing")
    check_unpacked(name, entries, len(data), limits)


def check_unpacked(name: str, entries: list[zipfile.ZipInfo], packed: int, limits: Limits) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    allowed = min(limits.unpacked_bytes, max(10_000_000, packed * limits.zip_ratio))
    if unpacked > allowed:
        raise refused(name, "size", f"it unpacks to {unpacked:,} bytes; the limit is {allowed:,}")
