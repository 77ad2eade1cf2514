"""One small sample of each format is read letter by letter as before: a parser's change is seen first here.

After a change that is meant, look at the diff of:
RADRAG_TEST_RENEW=1 .venv/bin/python -m pytest tests/ingest/test_golden.py
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.clean import cleaned
from ingest.load import source_of
from ingest.parse import parser
from ingest.reader import Reader
from samples.build import Entry, content

pytestmark = pytest.mark.asyncio(loop_scope="module")

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = {
    "html": Entry("physics/ct-dose.html", "ru"),
    "markdown": Entry("reference_values/typical-doses.md", "ru"),
    "docx": Entry("reference_values/heart.docx", "en"),
    "pdf": Entry("reference_values/abdomen.pdf", "en"),
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader() as one:
        yield one


@pytest.mark.parametrize("kind", SAMPLES)
async def test_a_sample_is_read_as_its_golden_markdown_says(reader: Reader, kind: str) -> None:
    source = source_of(Path(SAMPLES[kind].file).name, content(SAMPLES[kind]))
    assert source.kind == kind
    markdown = cleaned(await parser(reader.parse)(source)).markdown
    golden = GOLDEN / f"{kind}.md"
    if os.environ.get("RADRAG_TEST_RENEW"):
        golden.write_text(markdown, encoding="utf-8")
    assert markdown == golden.read_text(encoding="utf-8")
