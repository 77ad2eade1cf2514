"""Tells what a file is, from its first bytes before its name."""

from typing import Literal

from ingest.refusal import refused

Kind = Literal["pdf", "docx", "html", "markdown", "text"]
READABLE = "PDF, DOCX, HTML (.html, .htm, .xhtml), Markdown (.md, .markdown) or plain text (.txt)"
SUFFIXES: dict[str, Kind] = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
}
# Formats we can name but not read: what to say instead of "unknown".
FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Office file (DOC, XLS, PPT)",
    b"{\\rtf": "RTF",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"II*\x00": "a TIFF picture",
    b"MM\x00*": "a TIFF picture",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
}


def kind_of(name: str, suffix: str, data: bytes) -> Kind:
    """What `data` is. Content wins over the suffix. Raises InvalidArgument for what cannot be read."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return "docx"
    for magic, what in FOREIGN.items():
        if data.startswith(magic):
            raise refused(name, "type", f"it is {what}; allowed are {READABLE}")
    return text_kind(name, suffix.lower(), data)


def text_kind(name: str, suffix: str, data: bytes) -> Kind:
    if suffix in {".pdf", ".docx"}:
        raise refused(name, "type", f"it is named {suffix} but does not begin like one")
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return "html"
    if suffix not in SUFFIXES:
        what = f"the suffix {suffix} is unknown" if suffix else "it has no suffix"
        raise refused(name, "type", f"{what}; allowed are {READABLE}")
    return SUFFIXES[suffix]
