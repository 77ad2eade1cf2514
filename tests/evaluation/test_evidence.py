"""Evidence mapped to chunks, and rankings scored with it, on texts where every answer can be seen."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.datasets import Span
from evaluation.evidence import Chunk, Chunking
from evaluation.evidence_scores import naive, overlap, scored

TEXT = "Alpha beta. Gamma delta. Epsilon zeta."


def chunking(*places: tuple[int, int], text: str = TEXT) -> Chunking:
    return Chunking([Chunk(f"c{k}", Span("d", *place)) for k, place in enumerate(places)], {"d": text})


def sets(found: Chunking, start: int, end: int) -> list[set[str]]:
    return [set(one) for one in found.satisfying(Span("d", start, end))]


def test_every_chunk_that_holds_a_span_satisfies_it() -> None:
    assert sets(chunking((0, 12), (0, 25), (10, 38)), 0, 11) == [{"c0"}, {"c1"}]


def test_where_none_holds_it_the_shortest_runs_of_neighbours_do() -> None:
    assert sets(chunking((0, 12), (12, 25), (25, 38)), 6, 30) == [{"c0", "c1", "c2"}]
    assert sets(chunking((0, 12), (8, 20), (15, 38)), 6, 30) == [{"c0", "c1", "c2"}]
    assert sets(chunking((0, 20), (8, 24), (18, 38)), 6, 30) == [{"c0", "c1", "c2"}]  # no gaps


def test_blanks_between_trimmed_chunks_lose_nothing_and_words_do() -> None:
    assert sets(chunking((0, 11), (12, 24)), 0, 24) == [{"c0", "c1"}]
    assert sets(chunking((0, 11), (18, 24)), 0, 24) == []
    assert sets(chunking((0, 11)), 0, 12) == [{"c0"}]  # the span ends with a blank


def test_all_spans_of_a_path_are_needed_and_any_path_is_enough() -> None:
    found = chunking((0, 12), (12, 25), (25, 38))
    first, second, third = (Span("d", *place) for place in ((0, 5), (12, 17), (25, 32)))
    both = found.mapped(((first, second),))
    assert [both.recall(c) for c in ({"c0"}, {"c0", "c1"}, {"c2"})] == [0.5, 1, 0]
    either = found.mapped(((first, second), (third,)))
    assert [either.recall(c) for c in ({"c0"}, {"c2"}, set[str]())] == [0.5, 1, 0]
    assert either.relevant == {"c0", "c1", "c2"}


@given(size=st.integers(3, 30), step=st.integers(1, 30), start=st.integers(0, 80), length=st.integers(1, 40))
def test_mapping_agrees_with_its_definition(size: int, step: int, start: int, length: int) -> None:
    """Against all runs of neighbours, shortest first, that cover each letter of the span."""
    text = "x" * 120
    step, end = min(step, size), min(120, start + length)
    places = [(at, min(120, at + size)) for at in range(0, 120, step)]
    found = {frozenset(one) for one in sets(chunking(*places, text=text), start, end)}
    order = sorted(range(len(places)), key=lambda k: places[k])
    for count in range(1, len(places) + 1):
        runs = [order[k : k + count] for k in range(len(places) - count + 1)]
        covering = {
            frozenset(f"c{k}" for k in run)
            for run in runs
            if set(range(start, end)) <= {x for k in run for x in range(*places[k])}
        }
        if covering:
            assert found == covering
            return
    assert not found


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=5), st.integers(0, 60))
def test_overlap_counts_characters(parts: list[tuple[int, int]], start: int) -> None:
    shown = {x for at, length in parts for x in range(at, at + length)}
    needed = set(range(start, start + 10))
    recall, precision, iou = overlap(
        [Span("d", at, at + length) for at, length in parts], ((Span("d", start, start + 10),),)
    )
    assert recall == pytest.approx(len(shown & needed) / 10)
    assert precision == pytest.approx(len(shown & needed) / len(shown) if shown else 0)
    assert iou == pytest.approx(len(shown & needed) / len(shown | needed))


def test_naive_truth_punishes_the_other_chunk_that_holds_the_answer() -> None:
    """c1 holds the span as well as c0 does; the annotator happened to name c0."""
    found = chunking((0, 20), (5, 25), (25, 38))
    evidence = {"q": ((Span("d", 6, 10),),)}
    rankings = {"q": ["c1", "c0", "c2"]}
    assert naive(rankings, evidence, found, ["P@1", "RR@10"]) == {"P@1": {"q": 0.0}, "RR@10": {"q": 0.5}}
    aware = scored(rankings, evidence, found, ["P@1", "RR@10"], depths=(1,))
    assert (aware["P@1"]["q"], aware["RR@10"]["q"], aware["Evidence@1"]["q"]) == (1, 1, 1)
    assert aware["SpanPrecision@1"]["q"] == pytest.approx(4 / 20)


def test_a_question_whose_evidence_no_chunk_holds_counts_as_nothing_found() -> None:
    values = scored({"q": ["c0"]}, {"q": ((Span("d", 30, 38),),)}, chunking((0, 12)), ["P@1"], depths=(1,))
    assert {name: by["q"] for name, by in values.items()} == dict.fromkeys(values, 0.0)


def test_no_evidence_no_figure() -> None:
    assert scored({"q": ["c0"]}, {"q": ()}, chunking((0, 12)), ["P@1"], depths=(1,))["P@1"] == {}


def test_rankings_are_fixed_and_scores_move_with_the_annotation() -> None:
    draw, found = random.Random(1), chunking(*((at, at + 12) for at in range(0, 26, 6)))
    rankings = {f"q{n}": draw.sample(list(found.places), 5) for n in range(20)}
    one = {query: ((Span("d", 0, 5),),) for query in rankings}
    more = {query: (*paths, (Span("d", 26, 30),)) for query, paths in one.items()}
    before, after = (scored(rankings, given, found, ["RR@10"]) for given in (one, more))
    assert all(after["RR@10"][query] >= before["RR@10"][query] for query in rankings)
    assert after["RR@10"] != before["RR@10"]
