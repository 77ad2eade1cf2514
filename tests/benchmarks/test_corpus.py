"""Made-up documents keep the rules of real ones, and their vectors have neighbours."""

from itertools import product

import numpy as np

from benchmarks import corpus
from benchmarks.corpus import LANGUAGES, SHARES, TOPICS, Space
from retrieval.document import Child, Parent


def test_passages_are_slices_and_every_id_is_its_own() -> None:
    made = list(corpus.documents(500, 32))
    children = [child for one in made for child in one.children]
    assert len(children) == len({child.child_id for child in children}) == 500
    for one in made:
        text = "\n\n".join(parent.text for parent in one.parents)
        passages: list[Parent | Child] = [*one.parents, *one.children]
        for passage in passages:
            assert text[passage.start : passage.end] == passage.text
        spans = {parent.parent_id: (parent.start, parent.end) for parent in one.parents}
        for child in one.children:
            first, last = spans[child.parent_id]
            assert first <= child.start < child.end <= last


def test_topics_languages_and_shares_take_turns() -> None:
    documents = [one.document for one in corpus.documents(30 * 140, 8)]
    assert {one.topic for one in documents} == set(TOPICS)
    assert {(one.topic, one.language) for one in documents} == set(product(TOPICS, LANGUAGES))
    for label, share in SHARES.items():
        seen = sum(label in one.access_labels for one in documents)
        assert seen == -(-len(documents) // share)


def test_vectors_have_length_one_and_a_question_lies_nearest_to_its_own() -> None:
    space = Space(2000, 96)
    points = space.points(2000)
    assert np.allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)
    cosines = space.near(points[:50]) @ points.T
    assert (cosines.argmax(axis=1) == np.arange(50)).all()
    others = np.sort(cosines, axis=1)[:, -16:-1]
    assert 0.2 < others.mean() < 0.95  # neither all far, as with independent vectors, nor all the same


def test_the_same_seed_makes_the_same_corpus_and_questions_differ() -> None:
    one, two = (next(corpus.documents(30, 16)) for _ in range(2))
    assert (one.document, one.children[0]) == (two.document, two.children[0])
    assert len(set(corpus.questions("ru", 50))) == 50
