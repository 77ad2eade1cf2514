"""Real PDF and DOCX files through the child process: structure, pages, and every way to fail."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ingest.clean import applied, cleaned
from ingest.document import Parsed
from ingest.kind import Kind
from ingest.load import Source
from ingest.reader import Care, Reader
from radrag.errors import InvalidArgument
from tests.ingest import files

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = (
    "Рентгенологическое исследование органов грудной клетки выполняется в прямой и боковой проекциях. "
    "При подозрении на патологию средостения показана компьютерная томография с контрастированием. "
)
ROWS = [["Область", "CTDIvol", "DLP"], ["Голова", "60", "1000"], ["Таз", "15", ""], ["Нога", "7", ""]]
SPANNED = [((1, 3), (2, 3))]
PROTOCOL = files.pdf(
    [
        files.heading("Протокол исследования"),
        files.body(TEXT * 3),
        files.subheading("1. Подготовка пациента"),
        files.body(TEXT * 2),
        files.bullets("Не есть 4 часа", "Снять украшения, " * 9, "Сообщить об аллергии"),
        files.subheading("2. Дозы"),
        files.ruled(
            [["Область", "CTDIvol", "DLP"], ["Голова", "60", "1000"], ["Таз", "15", ""], ["Нога", "7", ""]],
            SPANNED,
        ),
        files.space(),
        *[files.body(TEXT * 4) for _ in range(14)],
    ],
    running_head="Клинические рекомендации",
)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader() as one:
        yield one


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def read(reader: Reader) -> Parsed:
    return await reader.parse(Source("protocol.pdf", "pdf", PROTOCOL))


@pytest.fixture(scope="module")
def protocol(read: Parsed) -> Parsed:
    return cleaned(read)


async def test_a_pdf_keeps_headings_lists_and_ruled_tables(protocol: Parsed) -> None:
    lines = protocol.markdown.split("\n")
    headings = [line for line in lines if line.startswith("#")]
    assert headings == ["# Протокол исследования", "## 1. Подготовка пациента", "## 2. Дозы"]
    assert [line[:12] for line in lines if line.startswith("- ")] == [
        "- Не есть 4 ",
        "- Снять укра",
        "- Сообщить о",
    ]
    assert [line for line in lines if line.startswith("|")] == [
        "| Область | CTDIvol | DLP |",
        "| --- | --- | --- |",
        "| Голова | 60 | 1000 |",
        "| Таз | 15 |  |",
        "| Нога | 7 | 7 |",
    ]
    assert protocol.title == "Протокол исследования"


async def test_running_heads_are_gone_and_sentences_that_pages_part_are_whole(protocol: Parsed) -> None:
    assert "Клинические рекомендации" not in protocol.markdown
    assert protocol.markdown.count(TEXT.strip()) == 3 + 2 + 14 * 4


async def test_running_heads_and_feet_are_on_record(read: Parsed, protocol: Parsed) -> None:
    taken = [(one.rule, read.markdown[one.start : one.end].strip()) for one in protocol.removals]
    pages = len(read.pages)
    assert [text for rule, text in taken if rule == "running_head"] == ["Клинические рекомендации"] * pages
    assert [text for rule, text in taken if rule == "running_foot"] == [str(n + 1) for n in range(pages)]
    assert applied(read.markdown, protocol.removals) == protocol.markdown


async def test_contents_of_a_pdf_are_taken_out_line_by_line_on_record(reader: Reader) -> None:
    entries = [f"Раздел {n} {'.' * 60} {n + 2}" for n in range(5)]
    story = [files.heading("Оглавление"), *map(files.body, entries), files.heading("Дозы"), files.body(TEXT)]
    parsed = await reader.parse(Source("contents.pdf", "pdf", files.pdf(story)))
    assert all(entry in parsed.markdown for entry in entries)
    found = cleaned(parsed)
    assert found.markdown == f"# Дозы\n\n{TEXT.strip()}\n"
    assert "contents" in {one.rule for one in found.removals}


async def test_pages_are_mapped_to_ranges_without_a_gap(protocol: Parsed) -> None:
    assert [part.page for part in protocol.pages] == list(range(1, len(protocol.pages) + 1))
    assert len(protocol.pages) >= 3
    assert [part.end for part in protocol.pages[:-1]] == [part.start for part in protocol.pages[1:]]
    assert (protocol.pages[0].start, protocol.pages[-1].end) == (0, len(protocol.markdown))


async def test_text_between_two_tables_of_one_width_stays_text(reader: Reader) -> None:
    tables = [
        files.open_table([["Орган", f"Размер {n}"], ["Печень", "15 см"], ["Почка", "11 см"]]) for n in (1, 2)
    ]
    story = [tables[0], files.space(), files.body(TEXT * 3), files.space(), tables[1], files.body(TEXT)]
    parsed = cleaned(await reader.parse(Source("two.pdf", "pdf", files.pdf(story))))
    blocks = parsed.markdown.strip().split("\n\n")
    assert [block[0] for block in blocks] == ["|", "Р", "|", "Р"]
    assert blocks[0].split("\n")[2:] == ["| Печень | 15 см |", "| Почка | 11 см |"]


async def test_a_table_over_two_pages_is_one_table_with_one_head(reader: Reader) -> None:
    rows = [["Орган", "Размер"], *[[f"Орган {n}", f"{n} см"] for n in range(60)]]
    long = files.pdf([files.body(TEXT), files.ruled(rows)])
    parsed = cleaned(await reader.parse(Source("long.pdf", "pdf", long)))
    assert len(parsed.pages) == 2
    assert parsed.markdown.count("| Орган | Размер |") == 1
    assert len(parsed.markdown.strip().split("\n\n")) == 2
    assert sum(line.endswith(" см |") for line in parsed.markdown.split("\n")) == 60


async def test_a_docx_keeps_headings_nested_lists_and_tables(reader: Reader) -> None:
    parsed = await reader.parse(Source("protocol.docx", "docx", files.word_file()))
    assert parsed.markdown == (
        "# Протокол КТ\n\n## Подготовка\n\nПациент не ест 4 часа до исследования.\n\n"
        "- Натощак\n- Без украшений\n  - Кольца снять\n\n## Дозы\n\n"
        "| Область | CTDIvol, мГр |\n| --- | --- |\n| Голова | 60 |\n| Живот | 15 |\n"
    )
    assert (parsed.title, parsed.pages) == ("Протокол КТ", ())


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("locked.pdf", files.encrypted(PROTOCOL), "encrypted"),
        ("noise.pdf", b"%PDF-1.4\n" + b"\x00\xff" * 500 + b"\nstartxref\n0\n%%EOF", "damaged"),
        ("empty.docx", files.archive({"word/document.xml": b"<x/>"}), "damaged"),
    ],
)
async def test_what_cannot_be_read_is_refused_by_name(
    reader: Reader, name: str, data: bytes, said: str
) -> None:
    kind: Kind = "docx" if name.endswith("docx") else "pdf"
    with pytest.raises(InvalidArgument, match=said) as failure:
        await reader.parse(Source(name, kind, data))
    assert name in failure.value.limit


async def test_a_file_that_takes_too_long_costs_only_itself() -> None:
    async with Reader(care=Care(seconds=0.05)) as hasty:
        with pytest.raises(InvalidArgument, match=r"longer than 0.05 s"):
            await hasty.parse(Source("protocol.pdf", "pdf", PROTOCOL))


async def test_a_reader_that_dies_costs_one_file_and_is_replaced(reader: Reader) -> None:
    await reader.parse(Source("a.docx", "docx", files.word_file()))
    (child,) = reader._idle
    reading = asyncio.create_task(reader.parse(Source("b.pdf", "pdf", PROTOCOL)))
    await asyncio.sleep(0)
    child.process.kill()
    with pytest.raises(InvalidArgument, match="crashed its reader"):
        await reading
    assert (await reader.parse(Source("c.docx", "docx", files.word_file()))).title == "Протокол КТ"


async def test_a_reader_that_died_while_it_waited_costs_no_file(reader: Reader) -> None:
    await reader.parse(Source("a.docx", "docx", files.word_file()))
    (child,) = reader._idle
    child.process.kill()
    await child.process.wait()
    assert (await reader.parse(Source("b.docx", "docx", files.word_file()))).title == "Протокол КТ"


async def test_a_docx_with_comments_and_formulas_in_its_xml_is_read(reader: Reader) -> None:
    """Word reads both; Docling alone fails on either."""
    formula = (
        '<w:p><m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
        "<m:r><m:t>D=CTDI·L</m:t></m:r></m:oMath></w:p>"
    )
    said = files.with_part(
        files.word_file(), "word/document.xml", b"<w:body>", f"<w:body><!-- made by -->{formula}".encode()
    )
    parsed = await reader.parse(Source("noted.docx", "docx", said))
    assert "made by" not in parsed.markdown
    assert "CTDI" in parsed.markdown.split("\n")[0]
    assert "| Голова | 60 |" in parsed.markdown


async def test_a_reader_is_replaced_after_its_number_of_files_and_none_is_left_behind() -> None:
    async with Reader(care=Care(files_each=1)) as short_lived:
        await short_lived.parse(Source("a.docx", "docx", files.word_file()))
        assert short_lived._idle == []


async def test_cancelling_ends_the_child() -> None:
    async with Reader() as cancelled:
        task = asyncio.create_task(cancelled.parse(Source("protocol.pdf", "pdf", PROTOCOL)))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cancelled._idle == []
