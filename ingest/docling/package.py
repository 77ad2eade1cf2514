"""The package of a DOCX made ready for Docling, which fails on some of it and loses what some of it says.

Comments and processing instructions make it fail. It drops signs of symbol fonts, text that was moved and
tables without a grid, sets powers on the line, and shows what the author hid.
"""

import io
import re
import zipfile

from lxml import etree  # type: ignore[import-untyped]  # it ships no types

from ingest.docling.symbols import readable, sign_of
from ingest.raised import SUBSCRIPTS, SUPERSCRIPTS, shifted

PARTS = "word/"  # where a document keeps what it says
# What is worth a look at a part: most have none of it.
MARKS = (b"<!--", b":sym ", b"vertAlign", b"moveTo", b"moveFrom", b"vanish", b"\xef\x80", b"\xef\x82")
TABLE, TABLE_GRID = re.compile(rb"<\w*:?tbl>"), re.compile(rb"<\w*:?tblGrid\b")
RAISED = {"superscript": (SUPERSCRIPTS, "^"), "subscript": (SUBSCRIPTS, "")}
OFF = {"0", "false", "off"}


def prepared_package(data: bytes) -> bytes:
    """The same package as Docling can read it whole; `data` itself where nothing is in the way."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = {name for name in package.namelist() if name.startswith(PARTS) and name.endswith(".xml")}
        plain = {name: prepared_part(part) for name in names if is_marked(part := package.read(name))}
        if not plain:
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
            for entry in package.infolist():
                written.writestr(entry, plain.get(entry.filename) or package.read(entry.filename))
    return out.getvalue()


def is_marked(part: bytes) -> bool:
    gridless = len(TABLE.findall(part)) > len(TABLE_GRID.findall(part))
    return gridless or any(mark in part for mark in MARKS) or b"<?" in part[part.find(b"?>") + 1 :]


def prepared_part(part: bytes) -> bytes:
    """Raises etree.XMLSyntaxError for what is no XML."""
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)
    root = etree.fromstring(part, parser)
    for moved in list(root.iter("{*}moveFrom")):
        moved.getparent().remove(moved)
    for moved in list(root.iter("{*}moveTo")):
        unwrap(moved)
    for run in list(root.iter("{*}r")):
        prepare_run(run)
    for table in root.iter("{*}tbl"):
        lay_grid(table)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def lay_grid(table: etree._Element) -> None:
    """Gives a table without one as many columns as its longest row has cells."""
    if table.find("{*}tblGrid") is None:
        grid = etree.Element(table.tag.replace("}tbl", "}tblGrid"))
        for _ in range(max((len(row.findall("{*}tc")) for row in table.findall("{*}tr")), default=0)):
            etree.SubElement(grid, table.tag.replace("}tbl", "}gridCol"))
        about = table.find("{*}tblPr")
        table.insert(0 if about is None else table.index(about) + 1, grid)


def unwrap(node: etree._Element) -> None:
    for child in list(node):  # beside it: numbered places are counted from the first child each time
        node.addprevious(child)
    node.getparent().remove(node)


def prepare_run(run: etree._Element) -> None:
    """Takes out a hidden run; in another puts letters for signs, and figures that say they stand high."""
    about = run.find("{*}rPr")
    if is_on(about, "vanish"):
        run.getparent().remove(run)
        return
    fonts = about.find("{*}rFonts") if about is not None else None
    font = value(fonts, "ascii")
    for sign in run.findall("{*}sym"):
        code = value(sign, "char")
        sign.tag = sign.tag.replace("}sym", "}t")
        sign.text = sign_of(value(sign, "font"), int(code, 16)) if code else ""
        sign.attrib.clear()
    for text in run.findall("{*}t"):
        text.text = readable(font, text.text or "")
    raise_texts(run, about)


def raise_texts(run: etree._Element, about: etree._Element | None) -> None:
    place = about.find("{*}vertAlign") if about is not None else None
    if about is not None and place is not None and value(place, "val") in RAISED:
        for text in run.findall("{*}t"):
            text.text = shifted(text.text or "", *RAISED[value(place, "val")])
        about.remove(place)


def is_on(about: etree._Element | None, name: str) -> bool:
    found = about.find(f"{{*}}{name}") if about is not None else None
    return found is not None and value(found, "val") not in OFF


def value(node: etree._Element | None, name: str) -> str:
    """An attribute, whatever its namespace; empty when there is none."""
    found = node.attrib if node is not None else {}
    return next((str(said) for key, said in found.items() if etree.QName(key).localname == name), "")
