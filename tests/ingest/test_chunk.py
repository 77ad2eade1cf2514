"""Parents and children of random documents: exact coverage, limits, whole tables, no dangling headings."""

from itertools import pairwise
from time import process_time

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.canonical import canonical
from ingest.chunk import ChunkLimits, chunk
from ingest.document import Document, Metadata
from ingest.parents import ParentLimits
from ingest.passage import Parent
from ingest.tree import Block, blocks_of
from tests.ingest.counting import counter

COUNTER = counter(room=100)
LIMITS = ChunkLimits(ParentLimits(most=120, small=15, whole=30, joined=60, tiny=5), 60, 90, 140)

WORD = st.text("abcdeжзийклЁё\u0301зфр123-🩻", min_size=1, max_size=12)
SENTENCE = st.lists(WORD, min_size=1, max_size=14).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=9).map(" ".join)
HEADING = st.tuples(st.integers(1, 4), WORD).map(lambda pair: f"{'#' * pair[0]} {pair[1]}")
CELL = st.lists(WORD, max_size=4).map(" ".join)
FENCE = st.lists(WORD, max_size=8).map(lambda lines: "```\n" + "\n\n".join(lines) + "\n```")
LEAD_IN = SENTENCE.map(lambda text: text.rstrip(".") + ":")


@st.composite
def tables(draw: st.DrawFn) -> str:
    rows = draw(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=25))
    lines = [f"| {one} | {other} |" for one, other in rows]
    return "\n".join(["| Доза | mSv |", "| --- | --- |", *lines])


@st.composite
def lists(draw: st.DrawFn) -> str:
    items = draw(st.lists(st.tuples(st.integers(0, 2), SENTENCE), min_size=1, max_size=12))
    mark = draw(st.sampled_from(["-", "1.", "*"]))
    return "\n".join(f"{'   ' * depth}{mark} {text}" for depth, text in items)


BLOCKS = st.one_of(PARAGRAPH, HEADING, HEADING, tables(), lists(), FENCE, LEAD_IN, SENTENCE.map("> ".__add__))
BREAKS = st.sampled_from(["\n\n", "\r\n\r\n", "\n\n\n", "\r\r"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    return canonical(draw(BREAKS).join(draw(st.lists(BLOCKS, min_size=1, max_size=12))))


def document(text: str) -> Document:
    return Document("d", text, "Title", "ru", Metadata(), "test")


def parents_of(text: str) -> list[Parent]:
    return chunk(document(text), COUNTER, LIMITS)


@settings(max_examples=60, deadline=None)
@given(documents())
def test_parents_cover_the_document_and_children_their_parent_exactly_once(text: str) -> None:
    parents = parents_of(text)
    assert [parents[0].start, parents[-1].end] == [0, len(text)]
    assert all(one.end == other.start for one, other in pairwise(parents))
    for parent in parents:
        assert parent.text == text[parent.start : parent.end]
        assert "".join(child.text for child in parent.children) == parent.text
        assert all(child.text == text[child.start : child.end] for child in parent.children)


@settings(max_examples=60, deadline=None)
@given(documents())
def test_no_limit_in_tokens_is_exceeded(text: str) -> None:
    for parent in parents_of(text):
        assert 0 <= parent.tokens == COUNTER.count(parent.text) <= LIMITS.parents.most
        assert all(COUNTER.count(child.text) <= LIMITS.max_child_tokens for child in parent.children)


@settings(max_examples=60, deadline=None)
@given(documents())
def test_a_child_is_short_only_where_no_cut_at_words_avoids_it(text: str) -> None:
    for parent in parents_of(text):
        short = [child for child in parent.children if len(child.text) < LIMITS.min_child_characters]
        if short and len(parent.text) >= LIMITS.min_child_characters:
            assert not can_be_cut(parent.text)


def can_be_cut(text: str) -> bool:
    """Tries every cut before a word: whether pieces exist that keep both limits."""
    places = [at for at in range(1, len(text)) if text[at - 1].isspace() and not text[at].isspace()]
    reached = [0]
    for at in [*places, len(text)]:
        if any(allowed(text[start:at]) for start in reached):
            reached.append(at)
    return reached[-1] == len(text)


def allowed(piece: str) -> bool:
    return len(piece) >= LIMITS.min_child_characters and COUNTER.count(piece) <= LIMITS.max_child_tokens


@settings(max_examples=60, deadline=None)
@given(documents())
def test_a_table_or_list_that_fits_into_a_parent_stays_whole(text: str) -> None:
    starts = {parent.start for parent in parents_of(text)}
    for block in blocks_of(text):
        fits = COUNTER.count(text[block.start : block.end]) <= LIMITS.parents.most
        if block.kind in {"table", "list"} and fits and not forced(text, block):
            assert not any(block.start < at < block.end for at in starts)


def forced(text: str, block: Block) -> bool:
    """Whether headings right above it, which may not be left alone, make it too large."""
    above = text[: block.start]
    for other in reversed([one for one in blocks_of(text) if one.start < block.start]):
        if other.kind != "heading":
            break
        above = text[: other.start]
    return COUNTER.count(text[len(above) : block.end]) > LIMITS.parents.most


@settings(max_examples=60, deadline=None)
@given(documents())
def test_no_parent_but_the_last_ends_with_a_heading(text: str) -> None:
    ends = {parent.end for parent in parents_of(text)[:-1]}
    headings = [block for block in blocks_of(text) if block.kind == "heading"]
    fitting = [one for one in headings if COUNTER.count(text[one.start : one.end]) <= LIMITS.parents.most]
    assert not ends & {heading.end for heading in fitting}


@settings(max_examples=60, deadline=None)
@given(tables())
def test_a_parent_that_goes_on_with_a_table_carries_its_header_rows(table: str) -> None:
    for parent in parents_of(canonical(table))[1:]:
        assert parent.context == "| Доза | mSv |\n| --- | --- |"
        assert parent.text.startswith("| ")
        assert all(child.context.endswith("| --- | --- |") for child in parent.children)


def test_a_section_is_a_parent_with_its_headings_path() -> None:
    body = "Слово за словом. " * 10
    text = canonical(f"# Title\n\n## Дозы\n\n### Взрослые\n\n{body}\n\n### Дети\n\n{body}\n")
    paths = [parent.heading_path for parent in parents_of(text)]
    assert paths == [("Дозы", "Взрослые"), ("Дозы", "Дети")]


def test_small_neighbours_of_one_branch_become_one_parent_those_of_two_do_not() -> None:
    body = "word " * 25
    text = canonical(f"# A\n\n## A1\n\n{body}\n\n## A2\n\nfew.\n\n# B\n\n## B1\n\nfew.\n\n## B2\n\n{body}\n")
    assert [parent.text.split()[1] for parent in parents_of(text)] == ["A", "B"]


def test_a_word_longer_than_the_limit_is_cut_inside() -> None:
    text = canonical("я" * 2000)
    parents = parents_of(text)
    assert "".join(parent.text for parent in parents) == text
    assert max(child.tokens for parent in parents for child in parent.children) <= 60


def test_children_end_with_sentences() -> None:
    text = canonical("Снимок сделан в двух проекциях. " * 12)
    (parent,) = chunk(document(text), COUNTER, ChunkLimits(ParentLimits(most=500), 60, 90, 140))
    assert all(child.text.rstrip().endswith(".") for child in parent.children)


def test_a_book_is_cut_in_a_time_in_proportion_to_its_length() -> None:
    section = "Снимок сделан. " * 20 + "\n\n- один\n- два"
    short, long = (canonical("\n\n".join(f"## {n}\n\n{section}" for n in range(size))) for size in (100, 800))
    assert seconds(long) < 24 * seconds(short) + 1


def seconds(text: str) -> float:
    started = process_time()
    assert parents_of(text)
    return process_time() - started
