"""The other ways to cut a document: their pieces keep the limit, and what each promises."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.canonical import canonical
from ingest.chunk import ChunkLimits, chunk
from ingest.parents import ParentLimits
from ingest.passage import Parent
from ingest.strategies import FIXED, RECURSIVE
from radrag.errors import FailedPrecondition
from tests.ingest.counting import counter
from tests.ingest.test_chunk import document, documents

COUNTER = counter(room=60)


def pieces_of(text: str, strategy: str) -> list[Parent]:
    limits = ChunkLimits(ParentLimits(most=120), 60, 90, 140, strategy=strategy)
    return chunk(document(text), COUNTER, limits)


@settings(max_examples=40, deadline=None)
@given(documents(), st.sampled_from([FIXED, RECURSIVE]))
def test_every_piece_is_an_exact_slice_within_the_limit_and_its_own_only_child(
    text: str, strategy: str
) -> None:
    for piece in pieces_of(text, strategy):
        assert piece.text == text[piece.start : piece.end] != ""
        assert COUNTER.count(piece.text) <= 60
        assert [(child.start, child.end, child.text) for child in piece.children] == [
            (piece.start, piece.end, piece.text)
        ]


@settings(max_examples=40, deadline=None)
@given(documents())
def test_recursive_pieces_cover_the_text_once_fixed_ones_at_least_once(text: str) -> None:
    recursive, fixed = pieces_of(text, RECURSIVE), pieces_of(text, FIXED)
    assert "".join(piece.text for piece in recursive) == text
    assert (fixed[0].start, fixed[-1].end) == (0, len(text))
    assert all(one.start < other.start <= one.end for one, other in pairwise(fixed))


def test_fixed_pieces_overlap_by_an_eighth() -> None:
    first, second, *_ = pieces_of(canonical("слово " * 200), FIXED)
    assert COUNTER.count(first.text[second.start - first.start :]) == 7


def test_recursive_pieces_end_with_paragraphs_where_these_fit() -> None:
    paragraph = "Снимок сделан в двух проекциях. " * 3
    found = pieces_of(canonical("\n\n".join([paragraph.strip()] * 8)), RECURSIVE)
    assert all(piece.text.endswith(".\n") or piece.text.endswith(".\n\n") for piece in found)


def test_an_unknown_strategy_is_refused_by_name() -> None:
    with pytest.raises(FailedPrecondition, match="parent_child, fixed, recursive"):
        ChunkLimits(strategy="semantic")
