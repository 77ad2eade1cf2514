"""What cannot be a word is refused by name: cutting millions of characters without a gap takes minutes."""

import pytest

from ingest.document import Parsed
from ingest.load import Source
from ingest.parse import LONGEST_WORD, parser
from radrag.errors import InvalidArgument


async def read(text: str) -> Parsed:
    return await parser(unasked)(Source("scan.txt", "text", text.encode()))


async def unasked(source: Source) -> Parsed:
    raise AssertionError(source.name)


async def test_a_word_of_more_than_a_hundred_thousand_characters_is_data() -> None:
    with pytest.raises(InvalidArgument, match=r"scan\.txt: a word of 100,001 characters .* at most 100,000"):
        await read(f"The dose is {'a' * (LONGEST_WORD + 1)} mSv.")


async def test_a_long_text_of_words_is_read() -> None:
    assert len((await read("доза " * LONGEST_WORD)).markdown) > 4 * LONGEST_WORD
