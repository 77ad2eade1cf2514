"""Scanned pages through the child process: what is read, what each page's record says, how it fails."""

import io
import os
import stat
from collections.abc import AsyncIterator
from glob import glob
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from evaluation import scans
from evaluation.misreadings import edits, plain
from ingest.document import Parsed
from ingest.kind import Kind
from ingest.load import Source
from ingest.ocr.engines import chain_of
from ingest.ocr.page import OcrFailed
from ingest.ocr.prepared import prepared
from ingest.ocr.straighten import skew
from ingest.ocr.tesseract import Tesseract
from ingest.parse import parser
from ingest.reader import Care, Reader
from ingest.reading import Reading
from radrag.errors import InvalidArgument
from tests.ingest import files

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = Path(scans.__file__).with_name("scans.yaml")
PAGES = scans.scanned([scans.load(TEXTS)[0], scans.load(TEXTS)[3]], skew=1.0, seed=7)
PLACELESS = '<p><span class="ocr_line"><span class="ocrx_word">x</span></span></p>'
MOST = {"ru": 0.03, "en": 0.02}  # of the letters may be misread


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader() as one:
        yield one


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def scanned(reader: Reader) -> Parsed:
    return await parse(reader, scans.pdf(PAGES))


async def parse(reader: Reader, data: bytes, kind: Kind = "pdf") -> Parsed:
    return await parser(reader.parse)(Source("scan.pdf", kind, data))


def read(parsed: Parsed, page: int) -> str:
    return "".join(parsed.markdown[part.start : part.end] for part in parsed.pages if part.page == page)


async def test_a_noisy_scan_askew_is_read_with_few_letters_wrong(scanned: Parsed) -> None:
    for number, page in enumerate(PAGES, 1):
        text = "\n".join(page.text)
        assert edits(text, read(scanned, number)) <= MOST[page.language] * len(plain(text)), page.language


async def test_the_way_through_docling_loses_nothing_of_what_the_engine_read(scanned: Parsed) -> None:
    chain = chain_of(Reading())
    for number, page in enumerate(PAGES, 1):
        text, alone = "\n".join(page.text), chain.read(page.image, scans.DPI).read.text
        assert edits(text, read(scanned, number)) <= edits(text, alone) + 0.01 * len(text)


async def test_a_scan_keeps_headings_lists_and_its_ruled_table(scanned: Parsed) -> None:
    lines = read(scanned, 1).split("\n")
    assert [line.lstrip("# ") for line in lines if line.startswith("#")][:2] == [
        "Подготовка пациента к компьютерной томографии",
        "1. Общие положения",
    ]
    assert sum(line.startswith("- ") for line in lines) == 3
    rows = [line for line in lines if line.startswith("|")]
    assert rows[0] == "| Масса | Объём, мл | Скорость, мл/с | Катетер |"
    assert [len(row.split("|")) for row in rows] == [6] * 6
    assert [row.split("|")[2].strip() for row in rows[2:]] == ["60", "80", "100", "120"]


async def test_every_page_records_its_engine_its_confidence_and_why(scanned: Parsed) -> None:
    assert [record.page for record in scanned.records] == [1, 2]
    for record in scanned.records:
        assert record.engine.startswith("tesseract-5")
        assert 0.8 < (record.confidence or 0) <= 1
        assert record.reasons[0] == "picture"
    assert scanned.flags == ()
    assert scanned.pictures < 0.2


async def test_a_scan_on_its_side_is_turned_first(reader: Reader) -> None:
    lying = PAGES[1].image.rotate(90, expand=True)
    parsed = await parse(reader, picture_pdf(lying))
    text = "\n".join(PAGES[1].text)
    assert edits(text, read(parsed, 1)) <= 0.03 * len(plain(text))


async def test_skew_is_measured_to_a_tenth_of_a_degree() -> None:
    for page, angle in zip(PAGES, (1.0, -1.0), strict=True):
        assert skew(page.image) == pytest.approx(-angle, abs=0.1)


async def test_ruled_lines_are_found_and_gone_before_the_engine_looks() -> None:
    page = prepared(PAGES[0].image, scans.DPI)
    across = [rule for rule in page.rules if rule[2] - rule[0] > rule[3] - rule[1]]
    assert len(across) == 6  # five rows
    left, top, right, bottom = (int(edge) for edge in max(across, key=lambda rule: rule[2] - rule[0]))
    assert np.asarray(page.bare.crop((left + 4, top, right - 4, bottom))).min() > 100


async def test_a_mixed_file_keeps_its_own_text_and_has_only_its_scan_read(reader: Reader) -> None:
    digital = files.pdf([files.heading("Протокол"), files.body("Печень не увеличена, контуры ровные. " * 12)])
    parsed = await parse(reader, joined(digital, scans.pdf(PAGES[:1])))
    assert [record.engine.split("-")[0] for record in parsed.records] == ["text", "tesseract"]
    assert [part.page for part in parsed.pages] == [1, 2]
    assert "Печень не увеличена" in read(parsed, 1)
    assert "клубочковой фильтрации" in read(parsed, 2)


async def test_a_font_without_a_map_to_letters_is_read_from_the_picture(reader: Reader) -> None:
    """The text layer has other letters than the page shows: what people see is what is indexed."""
    text = "В отчёте обобщены результаты наблюдений за качеством снимков, выполненных за год. " * 6
    parsed = await parse(reader, files.with_broken_map(files.pdf([files.body(text)])))
    assert parsed.records[0].engine.startswith("tesseract")
    assert "unlikely_letters" in parsed.records[0].reasons
    assert edits(text, parsed.markdown) <= 0.03 * len(text)


async def test_a_blank_page_is_no_failure(reader: Reader) -> None:
    blank = picture_pdf(Image.new("L", (800, 1100), 250))
    parsed = await parse(reader, joined(scans.pdf(PAGES[1:]), blank))
    assert parsed.records[1].reasons == ("blank",)
    assert parsed.flags == ()


async def test_a_file_of_blank_pages_is_refused(reader: Reader) -> None:
    with pytest.raises(InvalidArgument, match="no text was found"):
        await parse(reader, files.blank_scan())


async def test_a_scan_hardly_legible_is_flagged_for_the_reviewer(reader: Reader) -> None:
    small = PAGES[1].image.resize((380, 537), Image.Resampling.BILINEAR)
    parsed = await parse(reader, picture_pdf(small))
    assert "low_ocr_confidence" in parsed.flags
    assert (parsed.records[0].confidence or 0) < Reading().least_confidence


async def test_a_document_that_is_mostly_photographs_says_so(reader: Reader) -> None:
    noise = Image.effect_noise((600, 800), 80)
    photo = picture_pdf(noise, (20, 60, A4[0] - 40, A4[1] - 80), "Снимок 1. Прямая проекция. " * 4)
    parsed = await parse(reader, photo)
    assert parsed.pictures > 0.7


async def test_without_tesseract_a_scan_is_refused_and_the_cure_is_named(tmp_path: Path) -> None:
    reading = Reading(languages=("rus", "eng", "xyz"))
    async with Reader(reading=reading) as reader:
        with pytest.raises(InvalidArgument, match=r"tesseract lacks xyz.*apt-get install tesseract-ocr-xyz"):
            await parse(reader, scans.pdf(PAGES[:1]))


async def test_a_tesseract_whose_russian_is_none_is_refused_before_the_first_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its data for Russian are the English ones under another name."""
    (english,) = glob("/usr/share/tesseract-ocr/*/tessdata/eng.traineddata")
    for name in ("eng", "rus"):
        (tmp_path / f"{name}.traineddata").symlink_to(english)
    Tesseract().check()
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(OcrFailed, match="misreads Cyrillic"):
        Tesseract().check()


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        (Reading(engines=("easyocr",)), "easyocr is not installed"),
        (Reading(engines=("vision",)), "RADRAG_VISION_URL must be set"),
        (Reading(engines=("abbyy",)), "RADRAG_OCR_ENGINES: 'abbyy' is none of"),
    ],
)
async def test_an_engine_that_cannot_work_here_names_its_setting(reading: Reading, said: str) -> None:
    async with Reader(reading=reading) as reader:
        with pytest.raises(InvalidArgument, match=said):
            await parse(reader, scans.pdf(PAGES[:1]))


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("exit 139", "tesseract ended with status 139"),
        ("exit 0", "tesseract's reply is no hOCR"),
        ("echo nothing; exit 0", "tesseract's reply is no hOCR"),
        (f"echo '{PLACELESS}'; exit 0", "failed (KeyError)"),
    ],
)
async def test_a_page_whose_ocr_fails_is_flagged_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, said: str
) -> None:
    """Tesseract is made to crash, or to say nothing of use, on its second page."""
    program = tmp_path / "tesseract"
    program.write_text(
        f'#!/bin/sh\ncd {tmp_path}\ncase "$*" in *hocr*) [ ! -e one ] || {{ {ending}; }}; : > one ;; esac\n'
        'exec /usr/bin/tesseract "$@"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    async with Reader() as reader:
        parsed = await parse(reader, scans.pdf(PAGES))
    assert "ocr_failed" in parsed.flags
    assert parsed.records[1].engine == "none"
    assert parsed.records[1].reasons[-1] == f"tesseract-5.3.0: {said}"
    assert "клубочковой" in parsed.markdown


async def test_a_blank_page_beside_one_that_cannot_be_read_makes_the_file_no_better() -> None:
    blank = picture_pdf(Image.new("L", (800, 1100), 250))
    away = Reading(engines=("vision",), vision_url="http://127.0.0.1:9/v1", vision_model="m")
    async with Reader(reading=away) as reader:
        with pytest.raises(InvalidArgument, match="page 2 needs OCR, and vision:m: the server"):
            await parse(
                reader,
                joined(
                    blank, scans.pdf(PAGES[:1]), files.pdf([files.body("Печень без особенностей. " * 30)])
                ),
            )


async def test_windows_of_pages_give_the_same_text_as_all_at_once() -> None:
    texts = [f"Абзац {number}. " + "Печень без особенностей. " * 30 for number in range(40)]
    data = files.pdf([files.heading("Протокол"), *map(files.body, texts)])
    async with Reader() as whole, Reader(reading=Reading(window=2)) as windowed:
        one, other = await parse(whole, data), await parse(windowed, data)
    assert (one.markdown, one.pages) == (other.markdown, other.pages)
    assert len(one.pages) > 4


async def test_a_file_that_takes_too_much_memory_costs_only_itself() -> None:
    async with Reader(care=Care(megabytes=60)) as hungry:
        with pytest.raises(InvalidArgument, match="more than 60 MB of memory"):
            await parse(hungry, scans.pdf(PAGES[:1]))


def picture_pdf(
    image: Image.Image, place: tuple[float, float, float, float] = (0, 0, *A4), text: str = ""
) -> bytes:
    """A page with a picture, and a line of text above it."""
    out = io.BytesIO()
    size = A4 if image.height >= image.width else (A4[1], A4[0])
    canvas = Canvas(out, pagesize=size)
    canvas.drawInlineImage(image, *(place if text else (0, 0, *size)))
    canvas.setFont("DejaVu", 10)
    canvas.drawString(30, size[1] - 15, text)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def joined(*parts: bytes) -> bytes:
    return files.merged_pdf(parts)
