"""Third-party files: orders and laws in Russian, one text in many formats, pages of the web."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.canonical import canonical
from ingest.document import Parsed
from ingest.html.page import parse_html
from ingest.language import language_of
from ingest.load import load, source_of
from ingest.parse import parser
from ingest.reader import Reader

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.skipif(not DATA.exists(), reason="the data sets are not laid beside this project"),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader() as one:
        yield one


async def parsed(reader: Reader, name: str) -> Parsed:
    return await parser(reader.parse)(load(DATA / name))


async def test_words_of_a_russian_order_stay_apart(reader: Reader) -> None:
    order = await parsed(reader, "ru_orders_pdf/prikaz_mz_407n.pdf")
    words = order.markdown.split()
    assert language_of(order.markdown) == "ru"
    assert 5 < sum(map(len, words)) / len(words) < 9
    assert "выбору пациентом врача" in order.markdown


async def test_an_order_keeps_its_annexes_as_headings_its_tables_and_its_pages(reader: Reader) -> None:
    order = await parsed(reader, "ru_orders_pdf/prikaz_mz_69n_2013.pdf")
    annexes = [line for line in order.markdown.split("\n") if line.startswith("#") and "Приложение N" in line]
    assert len(annexes) == 9
    assert order.markdown.count("\n| --- |") >= 5
    assert [part.page for part in order.pages] == list(range(1, 24))


async def test_a_law_in_docx_keeps_its_wide_table(reader: Reader) -> None:
    law = await parsed(reader, "ru_law_docs/perechen_lekpreparatov.docx")
    assert "| Код АТХ | Анатомо-терапевтическо-химическая классификация (АТХ) |" in law.markdown
    assert law.markdown.count("\n| ") > 500


@pytest.mark.parametrize("name", ["cp1251.txt", "utf8.txt", "example.txt", "pr_17.txt"])
async def test_russian_text_files_are_read_in_whatever_encoding(reader: Reader, name: str) -> None:
    text = (await parsed(reader, f"format_matrix_ru/txt/{name}")).markdown
    assert text == canonical(text)
    assert language_of(text) == "ru"


@pytest.mark.parametrize("name", ["example_cp1251.html", "example_koi.html"])
async def test_a_page_in_a_legacy_encoding_is_russian_text(reader: Reader, name: str) -> None:
    page = await parsed(reader, f"format_matrix_ru/htmls/{name}")
    assert language_of(page.markdown) == "ru"
    assert "\ufffd" not in page.markdown


@pytest.mark.parametrize("page", ["0003", "0004", "0008"])
async def test_pages_of_the_web_become_text(page: str) -> None:
    raw = gzip.decompress((DATA / "html_main_content" / "html" / f"{page}.html.gz").read_bytes())
    found = parse_html(source_of(f"{page}.html", raw))
    assert len(found.markdown) > 500
    assert found.title
    assert "<" not in found.markdown.replace("<http", "")[:500]
