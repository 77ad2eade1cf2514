"""How each page was read: kept with the version, shown to the reviewer; words mended on the way."""

from pathlib import Path

from cli.kb_show import read_by_ocr
from ingest.catalogue import minhash
from ingest.catalogue.catalogue import Catalogue
from ingest.docling.markdown import Piece
from ingest.docling.mending import mended
from ingest.document import Document, Metadata, PageRange, PageRecord
from ingest.service_replies import page_record

TEXT = "# Протокол\n\nПечень не увеличена.\n"
RECORDS = (
    PageRecord(1, "text"),
    PageRecord(2, "tesseract-5.3.0", 0.94, ("picture",)),
    PageRecord(3, "tesseract-5.3.0", 0.61, ("picture", "vision:m: answered 500")),
)
DOCUMENT = Document(
    "d", TEXT, "Протокол", "ru", Metadata(topic="safety"), "docling-rules",
    (PageRange(0, len(TEXT), 1),), TEXT, 0.8, ("low_ocr_confidence",), (), RECORDS,
)  # fmt: skip


async def test_a_version_keeps_its_page_records_its_page_map_and_its_flags(tmp_path: Path) -> None:
    catalogue = await Catalogue.opened(f"sqlite:///{tmp_path / 'catalogue.db'}")
    try:
        await catalogue.take_in(DOCUMENT, [], minhash.signature(TEXT), "ivanov")
        found = await catalogue.show("d", "")
    finally:
        await catalogue.close()
    assert found.document.records == RECORDS
    assert found.document.pages == DOCUMENT.pages
    assert found.entry.flags == ("low_ocr_confidence", "mostly_pictures")


def test_the_reviewer_sees_the_engine_and_the_page_it_was_least_sure_of() -> None:
    (line,) = read_by_ocr(DOCUMENT)
    assert line == (
        "2 of 3 pages read by tesseract-5.3.0, least sure of page 3 (0.61: picture, vision:m: answered 500)"
    )


def test_the_contract_tells_a_page_without_confidence_from_one_with_none() -> None:
    assert not page_record(RECORDS[0]).HasField("confidence")
    assert page_record(PageRecord(1, "none", 0.0)).HasField("confidence")


def test_words_in_two_alphabets_are_mended_and_counted_on_their_page() -> None:
    pieces = [Piece("Стeнoз аорты.", 1), Piece("| мкSv | T2 |", 2)]
    found = mended(pieces, [PageRecord(2, "text"), PageRecord(1, "text")])
    assert [piece.text for piece in found.pieces] == ["Стеноз аорты.", "| мкSv | T2 |"]
    assert [record.reasons for record in found.records] == [
        ("look_alikes_mended:1",),
        ("mixed_alphabets_left:1",),
    ]
    assert found.mixed == 1
