"""What users of other systems ran into (rows 1 to 16 of the field reports about ingest): one test each."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
import pytest_asyncio
from grpc import aio
from PIL import Image, ImageDraw, ImageFont
from prometheus_client import REGISTRY

from evaluation.misreadings import edits
from ingest.canonical import canonical
from ingest.catalogue.states import NEXT, Act, State
from ingest.chunk import chunk
from ingest.clean import cleaned
from ingest.docling.pages import Pages
from ingest.document import Document, Metadata, PageRecord, Parsed
from ingest.html.page import parse_html
from ingest.letters import unmixed
from ingest.load import Source, source_of
from ingest.manifest import Item
from ingest.markdown import parse_text
from ingest.ocr.engines import chain_of
from ingest.ocr.tesseract import Tesseract
from ingest.page_counts import counted
from ingest.parse import parser, read_here
from ingest.passage import passage_id
from ingest.pipeline import run
from ingest.reader import Care, Reader
from ingest.reading import Reading
from ingest.review import Desk
from ingest.textlayer import TextLayer
from radrag.errors import InvalidArgument
from radrag.knowledge.v1 import knowledge_pb2 as wire
from tests.ingest import files
from tests.ingest.fake_vision import chat, serving
from tests.ingest.knowledge import knowledge
from tests.ingest.test_chunk import COUNTER, LIMITS
from tests.ingest.test_ocr import picture_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]
RUSSIAN = (
    "Рентгенологическое исследование органов грудной клетки выполняется в прямой и боковой проекциях. "
    "При подозрении на патологию средостения показана компьютерная томография с контрастированием. "
)
ROWS = [["Орган", "Размер"], ["Печень", "15 см"], ["Почка", "11 см"]]
TABLE = "| Орган | Размер |\n| --- | --- |\n| Печень | 15 см |\n| Почка | 11 см |"
TABLED = files.pdf([files.heading("Размеры"), files.body(RUSSIAN), files.ruled(ROWS)])


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader() as one:
        yield one


async def read(reader: Reader, data: bytes) -> Parsed:
    return await parser(reader.parse)(Source("file.pdf", "pdf", data))


def scanned(text: str) -> bytes:
    """A page that is a picture of some lines."""
    image = Image.new("L", (1240, 1754), 255)
    font = ImageFont.truetype(str(files.FONTS / "DejaVuSans.ttf"), 30)
    ImageDraw.Draw(image).multiline_text((100, 120), text, font=font, fill=0, spacing=14)
    return picture_pdf(image)


def document(text: str) -> Document:
    return Document("d", canonical(text), "T", "ru", Metadata(topic="safety"), "test")


async def test_1_words_of_a_russian_pdf_stay_apart(reader: Reader) -> None:
    parsed = cleaned(await read(reader, files.pdf([files.body(RUSSIAN * 6)])))
    assert parsed.markdown.split() == (RUSSIAN * 6).split()


def latin_only() -> list[str]:
    """Patterns of the code that reads text which name the Latin letters and no others."""
    found = []
    for path in sorted((ROOT / "ingest").rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            if re.search(r"a-zA-Z|A-Za-z", line) and "IN_LATIN" not in line and "А-Я" not in line:
                found.append(f"{path.relative_to(ROOT)}:{number}")
    return found


async def test_1_no_pattern_leaves_cyrillic_out() -> None:
    assert latin_only() == []


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r", "utf-16"])
async def test_2_text_in_another_encoding_is_read_and_the_guess_is_on_record(encoding: str) -> None:
    parsed = parse_text(source_of("a.txt", RUSSIAN.encode(encoding)))
    assert parsed.markdown.strip() == RUSSIAN.strip()
    assert parsed.engine == f"text ({encoding})"


@pytest.mark.parametrize(
    ("encoding", "flags"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ()),  # its mark says so
        ("utf-16-le", ("guessed_encoding:utf-16-le",)),
        ("cp1251", ("guessed_encoding:cp1251",)),
        ("koi8_r", ("guessed_encoding:koi8-r",)),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
async def test_2_a_guess_is_a_flag_for_the_review(name: str, encoding: str, flags: tuple[str, ...]) -> None:
    parsed = read_here(source_of(name, RUSSIAN.encode(encoding)))
    assert parsed.flags == flags


async def test_2_a_mark_without_text_is_refused() -> None:
    async def docling(source: Source) -> Parsed:
        raise AssertionError(source.name)

    with pytest.raises(InvalidArgument, match="no text was found"):
        await parser(docling)(source_of("a.md", b"\xff\xfe"))


async def test_2_a_poor_guess_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"a\.txt"):
        parse_text(source_of("a.txt", bytes(range(128, 256)) * 4))


async def test_3_a_broken_font_map_is_read_from_the_picture_and_never_as_it_stands(reader: Reader) -> None:
    spoiled = files.with_broken_map(files.pdf([files.body(RUSSIAN * 4)]))
    parsed = await read(reader, spoiled)
    assert parsed.records[0].engine.startswith("tesseract")
    assert edits(RUSSIAN * 4, parsed.markdown) <= 0.03 * len(RUSSIAN * 4)
    nobody = Reading(engines=("vision",), vision_url="http://127.0.0.1:9/v1", vision_model="m")
    async with Reader(reading=nobody) as blind:
        with pytest.raises(InvalidArgument, match="page 1 needs OCR"):
            await read(blind, spoiled)


async def test_4_glyph_names_send_a_page_to_ocr_and_are_counted() -> None:
    layer = TextLayer("GLYPH<12>GLYPH<7> GLYPH<33>GLYPH<1> " * 20)
    assert "glyph_names" in layer.reasons

    async def parse(source: Source) -> Parsed:
        return Parsed(
            "x\n", "", "docling", records=(PageRecord(1, "tesseract", 0.9, (*layer.reasons, "a: b")),)
        )

    before = reasons("glyph_names"), reasons("a: b")
    await counted(parse)(Source("a.pdf", "pdf", b""))
    assert (reasons("glyph_names"), reasons("a: b")) == (before[0] + 1, before[1])


def reasons(reason: str) -> float:
    return REGISTRY.get_sample_value("radrag_ingest_page_reasons_total", {"reason": reason}) or 0.0


async def test_5_the_default_engine_proves_that_it_reads_cyrillic_before_the_first_page() -> None:
    Tesseract().check()
    with pytest.raises(Exception, match="tesseract-ocr-xyz"):
        Tesseract(("xyz",)).check()


async def test_6_what_the_engine_reads_alone_is_what_the_document_has(reader: Reader) -> None:
    text = (
        RUSSIAN.replace(". ", ".\n").replace(" органов", "\nорганов").replace(" средостения", "\nсредостения")
    )
    data = scanned(text)
    parsed = await read(reader, data)

    image, dpi = Pages("a", data, 1).rendered(1)
    alone = chain_of(Reading()).read(image, dpi).read.text
    assert edits(text, parsed.markdown) <= edits(text, alone) + 0.01 * len(text)


async def test_7_look_alike_letters_are_mended_inside_a_word_and_codes_are_left() -> None:
    assert unmixed("Пeчeнь") == "Печень"  # with Latin e
    for code in ("МРТ", "T2", "CT", "Т2-ВИ", "BI-RADS"):
        assert unmixed(code) == code


async def test_8_a_table_belongs_to_one_chunk() -> None:
    text = canonical(f"# Размеры\n\n{RUSSIAN}\n\n{TABLE}\n\n{RUSSIAN}")
    parents = chunk(document(text), COUNTER, LIMITS)
    assert "".join(parent.text for parent in parents) == text
    assert [text.count(line) for line in TABLE.split("\n")] == [1] * 4
    assert sum("| Печень | 15 см |" in parent.text for parent in parents) == 1
    assert sum("| Печень | 15 см |" in child.text for one in parents for child in one.children) == 1


async def test_9_what_the_parser_makes_of_a_file_is_pinned_letter_by_letter(reader: Reader) -> None:
    """So is its release: another one that merges rows or drops a heading does not pass."""
    parsed = cleaned(await read(reader, TABLED))
    assert parsed.markdown == f"# Размеры\n\n{RUSSIAN.strip()}\n\n{TABLE}\n"
    assert re.search(r"docling-slim\[.*\]==\d", (ROOT / "pyproject.toml").read_text())


async def test_10_a_table_keeps_its_heading() -> None:
    long = "\n".join(f"| Орган {n} | {n} см |" for n in range(40))
    parents = chunk(document(f"# Размеры\n\n## Органы\n\n{TABLE}\n{long}"), COUNTER, LIMITS)
    assert len(parents) > 1
    assert {parent.heading_path for parent in parents} == {("Размеры", "Органы")}
    assert not any(parent.text.rstrip().split("\n")[-1].startswith("#") for parent in parents)


async def test_11_a_long_table_with_spans_is_split_with_its_head_and_every_cell_filled() -> None:
    rows = "".join(
        f'<tr><td rowspan="2">О{n}</td><td>{n} см</td></tr><tr><td>до {n}</td></tr>' for n in range(30)
    )
    head = '<tr><th colspan="2">Размеры</th></tr><tr><th>Орган</th><th>Размер</th></tr>'
    page = f"<html><body><main><p>{RUSSIAN}</p><table>{head}{rows}</table></main></body></html>"
    parsed = parse_html(source_of("a.html", page.encode()))
    assert "| О7 | 7 см |\n| О7 | до 7 |" in parsed.markdown
    split = [one for one in chunk(document(parsed.markdown), COUNTER, LIMITS) if one.text.startswith("| О")]
    assert len(split) > 1
    assert all(one.context.startswith("| Размеры / Орган | Размеры / Размер |\n") for one in split)
    assert all(child.context.endswith(one.context) for one in split for child in one.children)


async def test_12_text_that_returns_is_indexed_as_often_as_it_stands_there() -> None:
    text = canonical("\n\n".join(f"# Часть {n}\n\n{RUSSIAN * 3}" for n in range(3)))
    pieces = [
        (one.start, one.end) for parent in chunk(document(text), COUNTER, LIMITS) for one in parent.children
    ]
    assert len(set(pieces)) == len(pieces)
    assert "".join(text[start:end] for start, end in sorted(pieces)) == text
    ids = {passage_id("d", "v", "child", *piece) for piece in pieces}
    assert len(ids) == len(pieces)


# The options of reading at other values than their defaults, a pass each. Those of engines whose weights are
# not here, and of Docling's own models: test_ocr.py and test_docling_models.py.
OPTIONS: dict[str, object] = {
    "languages": ("eng", "rus"), "least_confidence": 0.5, "page_seconds": 60.0, "window": 1,
}  # fmt: skip
SEEN = {"engines", "vision_url", "vision_model", "vision_prompt", "vision_api_key_file"}
ELSEWHERE = {"easyocr_models", "artifacts", "layout_url"}
SCANNED = "При подозрении на патологию средостения\nпоказана компьютерная томография."


async def test_13_no_option_of_reading_is_without_a_pass_of_its_own() -> None:
    assert {one.name for one in fields(Reading)} == set(OPTIONS) | SEEN | ELSEWHERE


@pytest.mark.parametrize("option", OPTIONS)
async def test_13_with_each_option_tables_and_scans_are_published_and_found(
    option: str, tmp_path: Path
) -> None:
    given = {option: OPTIONS[option]}
    assert given[option] != getattr(Reading(), option)
    await published_with(Reading(**given), tmp_path, SCANNED.replace("\n", " "))  # type: ignore[arg-type]


async def test_13_with_a_vision_model_tables_and_scans_are_published_and_found(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    with serving() as server:
        server.reply = (200, chat("Исследование выполняют натощак."), 0.0)
        reading = Reading(("vision",), vision_url=server.url, vision_model="m", vision_prompt="Read.")
        reading = replace(reading, vision_api_key_file=str(tmp_path / "key"))
        await published_with(reading, tmp_path, "Исследование выполняют натощак.")
    assert server.asked[0]["messages"][0]["content"][1]["text"] == "Read."
    assert "Bearer secret" in server.headers[0].values()


async def published_with(reading: Reading, folder: Path, said: str) -> None:
    """A batch of one file, a page with a table and a scanned one, read so; both are found by a search."""
    (folder / "file.pdf").write_bytes(files.merged_pdf([TABLED, scanned(SCANNED)]))
    item = Item(folder / "file.pdf", "file.pdf", Metadata("file", topic="safety"))
    async with knowledge(folder) as base, Reader(reading=reading) as reader:
        desk = Desk(base.catalogue, "expert", approves=True)
        stages = replace(base.parts.pipeline, parse=parser(reader.parse), review=desk.review)
        (result,) = (await run([item], stages, lambda event: None)).results
        assert (result.outcome, result.reason) == ("published", "")
        text = (await base.get("file")).markdown
        assert text.count(TABLE) == 1
        assert said in text
        assert await base.found("Печень") == await base.found(said) == [result.version]


async def test_14_a_job_has_succeeded_only_when_a_search_finds_the_text(tmp_path: Path) -> None:
    async with knowledge(tmp_path) as base:
        version = await base.submit("lens", "# Lens\n\nThe lens dose limit is twenty a year.")
        await base.review("lens", version)
        base.models.missing = True
        publishing = asyncio.create_task(base.publish("lens", version))
        await asyncio.sleep(0.5)
        assert not publishing.done()
        assert await base.found("lens dose limit") == []
        base.models.missing = False
        assert (await publishing).error == ""
        assert await base.found("lens dose limit") == [version]


async def test_15_every_state_can_be_deleted_and_tried_again() -> None:
    living = set(State) - {State.DELETED}
    assert all((state, act) in NEXT for state in living for act in (Act.DELETE, Act.RETRY))


async def test_15_a_failed_document_can_be_deleted_by_its_id(tmp_path: Path) -> None:
    async with knowledge(tmp_path) as base:
        with pytest.raises(AssertionError, match="NUL"):
            await base.submit("broken", "a\0b")
        await base.get("broken")
        await base.stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="broken"))
        with pytest.raises(aio.AioRpcError, match="NOT_FOUND"):
            await base.get("broken")


async def test_16_pages_come_in_windows_from_a_process_that_is_watched_and_replaced(reader: Reader) -> None:
    """The limit of its memory: test_ocr.py."""
    many = files.merged_pdf([TABLED] * 3)
    async with Reader(care=Care(files_each=1), reading=Reading(window=1)) as windowed:
        assert len((await read(windowed, many)).records) == 3
        assert windowed.resident_bytes() == 0.0  # its one file read, the process was ended
    assert len((await read(reader, many)).records) == 3
    assert reader.resident_bytes() > 50_000_000
