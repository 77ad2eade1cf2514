"""The package of a DOCX as Docling can read it: XML comments and processing instructions make it fail."""

import io
import zipfile

from lxml import etree  # type: ignore[import-untyped]  # it ships no types

PARTS = "word/"  # where a document keeps what it says
NOTES = (b"<!--", b"<?")


def without_notes(data: bytes) -> bytes:
    """The same package with nothing in its XML but elements and text; `data` itself where that is so."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = {name for name in package.namelist() if name.startswith(PARTS) and name.endswith(".xml")}
        plain = {name: stripped(part) for name in names if noted(part := package.read(name))}
        if not plain:
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
            for entry in package.infolist():
                written.writestr(entry, plain.get(entry.filename) or package.read(entry.filename))
    return out.getvalue()


def noted(part: bytes) -> bool:
    """Whether there may be such a thing behind the declaration."""
    return any(mark in part[part.find(b"?>") + 1 :] for mark in NOTES)


def stripped(part: bytes) -> bytes:
    """Raises etree.XMLSyntaxError for what is no XML."""
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)
    tree = etree.fromstring(part, parser).getroottree()
    return bytes(etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=True))
