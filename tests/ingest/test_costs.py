"""What a document costs on its way in, counted and not timed: statements, texts parsed, tokens counted."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sql
from sqlalchemy.engine import Engine

from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.states import State
from ingest.chunk import ChunkLimits, chunk
from ingest.clean import cleaned
from ingest.document import Parsed
from ingest.noise import is_ordinary, noise_class
from ingest.parents import ParentLimits
from ingest.review import Desk
from ingest.tokens import TokenCounter
from ingest.tree import blocks_of
from tests.ingest.counting import counter
from tests.ingest.versions import DAY, document

STATEMENTS, TRANSACTIONS = 26, 4  # 37 and 5 while each step asked for itself
LIMITS = ChunkLimits(ParentLimits(most=200, small=20, whole=40, joined=90), 100, 150, 200)
TEXT = "".join(f"## Part {n}\n\nThe dose of part {n} is low. The dose {n} is safe.\n\n" for n in range(40))


@dataclass(frozen=True)
class Noting(TokenCounter):
    """A counter that keeps what it was asked to count."""

    asked: list[str] = field(default_factory=list)

    def count(self, text: str) -> int:
        self.asked.append(text)
        return super().count(text)


def test_no_passage_is_counted_twice() -> None:
    plain = counter()
    noting = Noting(plain.tokenizer, plain.sha256, plain.room)
    parents = chunk(document("d", TEXT), noting, LIMITS)
    assert len(parents) > 5
    assert [one.tokens for one in parents] == [plain.count(one.text) for one in parents]
    assert len(set(noting.asked)) == len(noting.asked)


def test_a_text_with_nothing_to_clean_is_parsed_once() -> None:
    before = blocks_of.cache_info().misses
    one = document("d", TEXT + "Parsed once.\n")
    kept = cleaned(Parsed(one.text, "", "markdown"))
    assert kept.markdown == one.text
    chunk(one, counter(), LIMITS)
    assert blocks_of.cache_info().misses == before + 1


def test_a_word_is_judged_once() -> None:
    noise_class(TEXT)
    before = is_ordinary.cache_info().misses
    noise_class(TEXT)
    assert is_ordinary.cache_info().misses == before


async def test_a_document_on_its_way_to_publication_takes_few_statements(tmp_path: Path) -> None:
    catalogue = await Catalogue.opened(f"sqlite:///{tmp_path}/catalogue.db")
    try:
        await published(catalogue, "first", "Doses are low.")
        counted = await counting(catalogue, "second", "Fields are high.")
    finally:
        await catalogue.close()
    assert counted["transaction"] <= TRANSACTIONS
    assert counted["statement"] <= STATEMENTS, counted


async def counting(catalogue: Catalogue, document_id: str, text: str) -> Counter[str]:
    """What a publication asks of the catalogue's database; a transaction's own beginning is no statement."""
    counted: Counter[str] = Counter()

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        counted["transaction" if statement.startswith("BEGIN") else "statement"] += 1

    sql.event.listen(Engine, "before_cursor_execute", note)
    try:
        await published(catalogue, document_id, text)
    finally:
        sql.event.remove(Engine, "before_cursor_execute", note)
    return counted


async def published(catalogue: Catalogue, document_id: str, text: str) -> None:
    """Publishes in the catalogue alone, as a batch does."""
    one = document(document_id, text, source_uri=f"https://example.org/{document_id}")
    assert await catalogue.published(one) is None
    verdict = await Desk(catalogue, "expert", approves=True).review(one, [*chunk(one, counter(), LIMITS)])
    await catalogue.begin_publishing(verdict.entry.number, "expert", 1, DAY)
    entry = await catalogue.finish_publishing(verdict.entry.number, "expert", DAY)
    assert entry.state is State.PUBLISHED
