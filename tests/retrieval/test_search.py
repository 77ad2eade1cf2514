"""Searching: both legs over all topics, every filter in both, nothing missing unsaid, and no lost recall."""

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from radrag.errors import FailedPrecondition, InvalidArgument
from retrieval.bm25 import Bm25, SparseVector
from retrieval.document import Child
from retrieval.edge_store import EdgeStore
from retrieval.fusion import Rrf, Scored, across
from retrieval.search import Searcher
from retrieval.store import Collection, Hit, Where
from tests.retrieval.making import DIMENSION, EMBEDDER, TOPICS, Made, made, vector
from tests.retrieval.running import Room, asked, room

KIDNEY = made("kidney", "Renal cysts are common.", "Contrast shows renal masses.")
LIVER = made("liver", "Hepatic haemangioma is bright on T2.", topic="anatomy", category="article")
DOSE = made(
    "dose", "Предел дозы двадцать миллизиверт.", topic="regulation", language="ru", category="regulatory"
)
STAFF = made("staff", "Renal biopsy on call list.", topic="safety", access_labels=("staff",))
ALL = (KIDNEY, LIVER, DOSE, STAFF)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Room]:
    async with room(tmp_path) as opened:
        await opened.publish(*ALL)
        yield opened


async def test_before_anything_is_published_nothing_is_found_and_no_leg_is_missing(tmp_path: Path) -> None:
    async with room(tmp_path) as empty:
        found = await empty.search("renal")
        words = await empty.search("renal", vector=(), embedder=None)
    assert (found.parents, found.missing_legs, found.generation) == ([], [], "")
    assert words.missing_legs == ["dense"]


async def test_all_topics_are_searched_at_once(here: Room) -> None:
    assert set(await here.documents("renal haemangioma предел")) == {"kidney", "liver", "dose"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"topics": ("anatomy",)}, {"liver"}),
        ({"topics": ("anatomy", "regulation")}, {"liver", "dose"}),
        ({"topics": ("templates",)}, set()),
        ({"languages": ("ru",)}, {"dose"}),
        ({"categories": ("article", "regulatory")}, {"liver", "dose"}),
        ({"document_ids": ("kidney", "staff")}, {"kidney"}),
        ({"labels": frozenset({"staff"})}, {"staff"}),
        ({"labels": frozenset({"staff", "public"})}, {"kidney", "liver", "dose", "staff"}),
        ({"labels": frozenset({"nobody"})}, set()),
        ({"day": -1}, set()),
    ],
)
@pytest.mark.parametrize("leg", ["dense", "bm25", "both"])
async def test_every_filter_holds_in_each_leg_alone(
    here: Room, changes: dict[str, object], expected: set[str], leg: str
) -> None:
    text = "words of no document" if leg == "dense" else "renal haemangioma предел"
    legs: dict[str, object] = {"vector": ()} if leg == "bm25" else {}
    assert set(await here.documents(text, **changes, **legs)) == expected


async def test_both_legs_are_asked_and_reported(here: Room) -> None:
    found = await here.search("renal cysts")
    assert found.missing_legs == []
    best = found.parents[0].children[0]
    assert best.dense == pytest.approx(
        float(np.dot(vector("renal cysts"), vector("Renal cysts are common."))), abs=1e-5
    )
    assert best.bm25 is not None


@pytest.mark.parametrize(
    "changes",
    [{"topics": ("templates",)}, {"day": -1}, {"languages": ("de",)}, {"labels": frozenset({"nobody"})}],
)
async def test_to_find_nothing_is_no_missing_leg(here: Room, changes: dict[str, object]) -> None:
    found = await here.search("renal cysts", **changes)
    assert (found.parents, found.missing_legs) == ([], [])


async def test_words_that_only_another_topic_has_are_no_missing_leg(here: Room) -> None:
    found = await here.search("haemangioma", topics=("regulation",))
    assert found.parents
    assert found.missing_legs == []


@pytest.mark.parametrize("text", ["the and of", "quasar pulsar"])
async def test_words_the_index_does_not_have_leave_the_dense_leg_alone(here: Room, text: str) -> None:
    found = await here.search(text)
    assert found.missing_legs == []
    assert found.parents
    assert all(child.bm25 is None for parent in found.parents for child in parent.children)


async def test_without_a_vector_bm25_answers_alone_and_says_so(here: Room) -> None:
    found = await here.search("renal masses", vector=(), embedder=None)
    assert found.missing_legs == ["dense"]
    assert found.parents[0].parent.text == "Contrast shows renal masses."
    assert all(child.dense is None for parent in found.parents for child in parent.children)


async def test_another_embedder_is_refused_with_both_values(here: Room) -> None:
    with pytest.raises(FailedPrecondition) as failure:
        await here.search("renal", embedder=replace(EMBEDDER, name="frida", weights_sha256="ef" * 32))
    assert "embedder.name is 'frida', the index has 'words'" in failure.value.message
    assert "embedder.weights_sha256" in failure.value.message


async def test_a_vector_of_another_length_or_without_its_embedder_is_refused(here: Room) -> None:
    with pytest.raises(InvalidArgument, match=f"vector: must have {DIMENSION} numbers"):
        await here.search("renal", vector=(1.0, 0.0))
    with pytest.raises(InvalidArgument, match="embedder: required"):
        await here.search("renal", embedder=None)


async def test_another_bm25_is_refused_for_reading_and_writing(here: Room, tmp_path: Path) -> None:
    await here.store.close()
    async with room(tmp_path, bm25=Bm25(k1=2.0)) as other:
        with pytest.raises(FailedPrecondition, match="bm25_sha256"):
            await other.search("renal")
        with pytest.raises(FailedPrecondition, match="bm25_sha256"):
            await other.publish(made("new", "New."))


async def test_the_first_five_parents_are_a_prefix_of_the_first_ten(here: Room) -> None:
    for n in range(20):
        await here.publish(made(f"d{n}", f"Renal finding number {n}.", topic=TOPICS[n % 7]))
    few, many = [await here.documents("renal finding 7", parents=n) for n in (5, 10)]
    assert len(many) == 10
    assert few == many[:5]


async def test_parents_are_distinct_and_follow_their_best_child(here: Room) -> None:
    await here.publish(made("long", "Spleen size. Spleen shape. Spleen size shape.", "Spleen."))
    found = await here.search("spleen size shape", topics=("safety",), document_ids=("long",))
    assert len({parent.parent.parent_id for parent in found.parents}) == len(found.parents) == 2
    best = [parent.children[0].fused for parent in found.parents]
    assert best == sorted(best, reverse=True)
    for parent in found.parents:
        scores = [child.fused for child in parent.children]
        assert scores == sorted(scores, reverse=True)


async def test_parents_come_by_id_in_the_order_asked_without_unknown_and_foreign_ones(here: Room) -> None:
    liver, kidney, staff = (one.parents[0].parent_id for one in (LIVER, KIDNEY, STAFF))
    asked_for = [liver, "00000000-0000-0000-0000-000000000000", staff, kidney, liver]
    found = await here.searcher.parents(asked_for, frozenset({"public"}))
    assert [one.parent for one in found] == [LIVER.parents[0], KIDNEY.parents[0]]
    both = await here.searcher.parents(asked_for, frozenset({"public", "staff"}))
    assert [one.document.document_id for one in both] == ["liver", "staff", "kidney"]


async def test_parents_of_a_superseded_version_are_still_there_for_an_old_citation(here: Room) -> None:
    await here.publish(made("kidney", "Rewritten."))
    (found,) = await here.searcher.parents([KIDNEY.parents[0].parent_id], frozenset({"public"}))
    assert found.document.version == KIDNEY.header.document.version


class Halved(EdgeStore):
    """Has lost what one of its legs looks in."""

    lost: type = object

    async def nearest(self, collection: Collection, query: object, where: Where, limit: int) -> list[Hit]:
        gone = isinstance(query, SparseVector) == (self.lost is SparseVector)
        return [] if gone else await super().nearest(collection, query, where, limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(("lost", "told"), [(SparseVector, "bm25"), (tuple, "dense")])
async def test_a_leg_that_lost_what_the_other_one_finds_is_missing(
    tmp_path: Path, lost: type, told: str
) -> None:
    store = Halved(tmp_path / "edge")
    store.lost = lost
    async with room(tmp_path, store) as here:
        await here.publish(*ALL)
        found = await here.search("renal cysts")
    assert found.parents
    assert found.missing_legs == [told]


class Crowded(EdgeStore):
    """Finds many children that no version has, before the real ones: a publication under way."""

    async def nearest(self, collection: Collection, query: object, where: Where, limit: int) -> list[Hit]:
        ghosts = [Hit(99.0, "0" * 32, f"ghost{n}", "", 0, 1) for n in range(200)]
        real = await super().nearest(collection, query, where, max(1, limit))  # type: ignore[arg-type]
        return [*ghosts, *real][:limit]


async def test_a_leg_asks_on_until_it_is_full_of_what_is_live(tmp_path: Path) -> None:
    async with room(tmp_path, Crowded(tmp_path / "edge")) as here:
        await here.publish(*ALL)
        assert set(await here.documents("renal haemangioma предел")) == {"kidney", "liver", "dose"}


class Watched(EdgeStore):
    """Notes which fields the conditions of legs are about."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.fields: set[str] = set()

    async def nearest(self, collection: Collection, query: object, where: Where, limit: int) -> list[Hit]:
        self.fields |= {one.field for one in where}
        return await super().nearest(collection, query, where, limit)  # type: ignore[arg-type]


async def test_the_store_looks_at_days_only_where_not_every_version_is_in_force(tmp_path: Path) -> None:
    store = Watched(tmp_path / "edge")
    async with room(tmp_path, store) as here:
        await here.publish(*ALL)
        assert "kidney" in await here.documents("renal")
        assert store.fields == {"access_labels", "language"}
        await here.publish(made("later", "Renal stones.", valid_from=150, valid_to=200))
        for day, there in {100: False, 150: True, 199: True, 200: False}.items():
            store.fields.clear()
            assert ("later" in await here.documents("renal", day=day)) == there
            # All five are in force together while the last one is.
            assert ("valid_to" in store.fields) != there


VOCABULARY = [f"word{n}" for n in range(300)]


def corpus(documents: int, seed: int = 5) -> list[Made]:
    rng = random.Random(seed)
    return [
        made(
            f"d{n}",
            *(" ".join(rng.choices(VOCABULARY, k=12)) + "." for _ in range(4)),
            topic=TOPICS[n % 7],
        )
        for n in range(documents)
    ]


async def test_hybrid_search_finds_what_brute_force_finds(tmp_path: Path) -> None:
    """Dense cosine, BM25 with one IDF over all topics, and their fusion, computed apart from the engine."""
    documents, bm25, rng = corpus(35), Bm25(), random.Random(1)
    children = {child.child_id: (child, one) for one in documents for child in one.children}
    async with room(tmp_path) as here:
        await here.publish(*documents)
        for _ in range(10):
            text = " ".join(rng.sample(VOCABULARY, 4))
            found = await here.search(text, children_per_topic=10, parents=20)
            got = [child.hit.passage_id for parent in found.parents for child in parent.children]
            assert set(got) == set(brute_force(text, children, bm25)[:20])


def brute_force(text: str, children: dict[str, tuple[Child, Made]], bm25: Bm25) -> list[str]:
    words = {one: bm25.document(f"\n{child.text}") for one, (child, _) in children.items()}
    weights = {
        term: np.log1p((len(words) - n + 0.5) / (n + 0.5))
        for term in bm25.question(text)
        if (n := sum(term in vector_.indices for vector_ in words.values()))
    }
    collections = []
    for topic in TOPICS:
        mine = [one for one, (_, whole) in children.items() if whole.header.document.topic == topic]
        dense = [Scored(one, float(np.dot(vector(text), children[one][0].vector))) for one in mine]
        sparse = [Scored(one, product(words[one], weights)) for one in mine]
        collections.append({"dense": dense, "bm25": [one for one in sparse if one.score > 0]})
    return [one.id for one in across(collections, Rrf(), 10)]


def product(words: SparseVector, weights: dict[int, float]) -> float:
    return sum(
        weights.get(term, 0.0) * value for term, value in zip(words.indices, words.values, strict=True)
    )


async def test_each_collection_and_leg_is_a_stage_of_its_own(here: Room) -> None:
    stages: list[str] = []

    def wrap(stage: str, function: object, /) -> object:
        stages.append(stage)
        return function

    searcher = Searcher(
        here.store,
        here.index.reading,
        here.bm25,
        TOPICS,
        fuse=across,
        rrf=Rrf(),
        wrap=wrap,  # type: ignore[arg-type]
    )
    await searcher.search(asked("renal"))
    assert sorted(stages) == [
        f"{topic}.{leg}"
        for topic in ("anatomy", "regulation", "safety")
        for leg in ("bm25", "dense:en", "dense:ru")
    ]


async def test_the_only_passage_of_the_other_language_is_found_however_near_the_own_ones_are(
    tmp_path: Path,
) -> None:
    own = [made(f"own{number}", f"Asked for.{' ' * number}") for number in range(30)]
    other = made("other", "Отрывок.", language="ru")
    async with room(tmp_path) as here:
        await here.publish(*own, other)
        searcher = Searcher(
            here.store, here.index.reading, here.bm25, TOPICS, fuse=across, rrf=Rrf(), language_share=4
        )
        found = await searcher.search(replace(asked("Asked for."), parents=13))
    documents = [parent.document.document_id for parent in found.parents]
    assert len(documents) == 13
    assert documents.count("other") == 1
