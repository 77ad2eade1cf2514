"""The noise filter on labelled chunks, and what it does and does not change in a document."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from ingest.canonical import canonical
from ingest.chunk import ChunkLimits, chunk
from ingest.document import Document, Metadata
from ingest.embed import framed
from ingest.noise import TEXT, WEIGHTS, features, noise_class
from ingest.parents import ParentLimits
from ingest.passage import Parent
from tests.ingest.counting import counter

LABELLED = Path(__file__).with_name("noise_examples.jsonl").read_text().splitlines()
EXAMPLES = [(one["label"], one["text"]) for one in map(json.loads, LABELLED)]
DATA = Path(__file__).parents[3] / "shared" / "data"
LIMITS = ChunkLimits(ParentLimits(most=120, small=15, whole=30, joined=60, tiny=5), 60, 90, 140)
CITED = dict(EXAMPLES)["references"]
TOLD = "Снимок выполняют стоя, на вдохе, в прямой проекции. " * 6


def parents_of(text: str, limits: ChunkLimits = LIMITS) -> list[Parent]:
    return chunk(Document("d", canonical(text), "T", "ru", Metadata(), ""), counter(room=100), limits)


@pytest.mark.parametrize(("label", "text"), EXAMPLES)
def test_each_labelled_chunk_gets_its_class(label: str, text: str) -> None:
    assert noise_class(text) == label


def test_there_are_seven_features_within_their_range_and_five_classes() -> None:
    for _, text in EXAMPLES:
        found = features(text)
        assert len(found) == 7
        assert all(0 <= value <= 1 for value in found.values())
    assert {TEXT, *WEIGHTS} == {label for label, _ in EXAMPLES}
    assert len({TEXT, *WEIGHTS}) == 5


def test_abbreviations_are_no_initials() -> None:
    assert features("Снимок делают стоя, т.е. на вдохе, и т.д. и т. п.")["contacts"] == 0
    assert features("Снимок описали Иванов И.И. и Петров П. П. на вдохе.")["contacts"] > 0


def test_noise_stays_in_the_document_but_is_neither_embedded_nor_searched() -> None:
    text = f"# A\n\n{TOLD}\n\n# B\n\n{CITED}\n"
    parents = parents_of(text)
    noisy = [child for parent in parents for child in parent.children if child.noise]
    assert noisy
    assert {child.noise for child in noisy} == {"references"}
    assert "".join(parent.text for parent in parents) == canonical(text)
    for parent in parents:
        assert "".join(child.text for child in parent.children) == parent.text
        assert all(one.end == other.start for one, other in pairwise(parent.children))
        spans = framed(Document("d", canonical(text), "T", "ru", Metadata(), ""), parent)[1]
        assert len(spans) == len(parent.searched) == sum(not child.noise for child in parent.children)


def test_above_one_the_threshold_lets_everything_through() -> None:
    limits = ChunkLimits(LIMITS.parents, 60, 90, 140, noise_threshold=2.0)
    found = parents_of(f"# A\n\n{TOLD}\n\n# B\n\n{CITED}\n", limits)
    assert all(child.noise == "" for parent in found for child in parent.children)


def test_a_document_of_nothing_but_noise_is_searched_all_the_same() -> None:
    document = Document("d", canonical(CITED), "T", "ru", Metadata(), "")
    assert noise_class(document.text) == "references"
    parents = chunk(document, counter(room=500), ChunkLimits())
    assert all(parent.searched == parent.children for parent in parents)


@pytest.mark.skipif(not DATA.exists(), reason="the data sets are not laid beside this project")
def test_of_real_protocols_little_is_noise_and_it_is_their_lists() -> None:
    """Lists of references are inline there; of real abstracts nothing may be lost."""
    lines = (DATA / "ru_protocols_12.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines[:4]]
    found = [noise_class(text[at : at + 1200]) for text in texts for at in range(0, len(text), 1200)]
    assert 0 < sum(one == "references" for one in found) < 0.2 * len(found)
    with (DATA / "scifact" / "corpus.jsonl").open() as corpus:
        abstracts = [json.loads(line)["text"] for line, _ in zip(corpus, range(300), strict=False)]
    assert sum(noise_class(text) != TEXT for text in abstracts) == 0


@pytest.mark.skipif(not DATA.exists(), reason="the data sets are not laid beside this project")
def test_of_real_papers_hardly_a_passage_is_lost_for_the_works_it_cites() -> None:
    """They have no lists of references; before, one passage in twenty was lost."""
    with (DATA / "covidqa" / "corpus.jsonl").open() as corpus:
        papers = [json.loads(line)["text"] for line in corpus]
    parts = [text[at : at + 1200] for text in papers for at in range(0, len(text), 1200)]
    assert sum(noise_class(part) == "references" for part in parts) < 0.01 * len(parts)
