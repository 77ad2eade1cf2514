"""Publishing: one version of a document at a time, atomically, again without effect, found only in force."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from radrag.errors import FailedPrecondition, InvalidArgument
from retrieval.index import Published
from retrieval.points import of_edition
from retrieval.publication import Batch
from retrieval.store import Collection
from tests.retrieval.making import DIMENSION, FINGERPRINT, Made, made, vector
from tests.retrieval.running import Room, room


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Room]:
    async with room(tmp_path) as opened:
        yield opened


KIDNEY = made("kidney", "Renal cysts are common. Contrast shows them.", "Stones are bright on CT.")
LIVER = made("liver", "Hepatic haemangioma on MRI. It is bright on T2.", topic="anatomy")


async def points(here: Room, topic: str = "safety", generation: str = "g1") -> int:
    await here.index.settle()
    return await here.store.count(Collection(generation, topic), ())


async def test_a_published_document_is_found_with_its_passages(here: Room) -> None:
    published = await here.publish(KIDNEY)
    found = await here.search("renal cysts")
    assert published == Published(True, found.revision, "")
    (first, *_) = found.parents
    assert first.parent == KIDNEY.parents[0]
    assert first.document == KIDNEY.header.document
    child = first.children[0]
    assert (child.hit.start, child.hit.end) == (0, 23)
    assert KIDNEY.parents[0].text[child.hit.start : child.hit.end] == "Renal cysts are common."
    assert child.dense is not None
    assert 0 < child.dense <= 1
    assert child.bm25 is not None
    assert child.bm25 > 0
    assert child.fused == pytest.approx(2 / 61)


async def test_publishing_the_same_again_changes_nothing(here: Room) -> None:
    first = await here.publish(KIDNEY)
    again = await here.publish(KIDNEY)
    assert again == Published(False, first.revision, "")
    assert await points(here) == 5


async def test_a_new_version_takes_the_place_of_the_old(here: Room) -> None:
    old = made("dose", "The limit is fifty.")
    new = made("dose", "The limit is twenty.", valid_from=50)
    await here.publish(old)
    published = await here.publish(new)
    assert published.superseded_version == old.header.document.version
    (found,) = (await here.search("limit")).parents
    assert found.parent.text == "The limit is twenty."


async def test_what_was_in_force_on_a_day_is_found_as_of_that_day(here: Room) -> None:
    versions = [made("dose", f"The limit is {n}.", valid_from=n * 10) for n in (1, 2, 3)]
    await here.publish(*versions)
    await here.index.settle()
    texts = {
        day: [one.parent.text for one in (await here.search("limit", day=day)).parents]
        for day in (9, 10, 19, 20, 29, 30, 100)
    }
    one, two, three = (["The limit is 1."], ["The limit is 2."], ["The limit is 3."])
    assert texts == {9: [], 10: one, 19: one, 20: two, 29: two, 30: three, 100: three}


async def test_a_version_of_the_future_leaves_the_old_in_force_until_its_day(here: Room) -> None:
    await here.publish(made("dose", "Old limit."), made("dose", "New limit.", valid_from=200))
    await here.index.settle()
    assert [one.parent.text for one in (await here.search("limit")).parents] == ["Old limit."]
    assert [one.parent.text for one in (await here.search("limit", day=200)).parents] == ["New limit."]


async def test_a_version_that_ends_is_not_found_from_that_day(here: Room) -> None:
    await here.publish(made("dose", "The limit.", valid_from=10, valid_to=20))
    assert [await here.documents("limit", day=day) for day in (9, 10, 19, 20)] == [[], ["dose"], ["dose"], []]


async def test_no_day_finds_two_versions_even_when_they_are_published_backwards(here: Room) -> None:
    for start in (30, 10, 20):
        await here.publish(made("dose", f"The limit from {start}.", valid_from=start))
    await here.index.settle()
    for day in range(0, 50, 5):
        assert len((await here.search("limit", day=day)).parents) <= 1


async def test_publishing_an_old_version_again_brings_it_back(here: Room) -> None:
    old, new = made("dose", "Old limit."), made("dose", "New limit.", valid_from=50)
    await here.publish(old, new)
    published = await here.publish(old)
    await here.index.settle()
    assert published == Published(True, published.revision, new.header.document.version)
    assert [one.parent.text for one in (await here.search("limit")).parents] == ["Old limit."]
    assert [one.parent.text for one in (await here.search("limit", day=2000)).parents] == ["Old limit."]


async def test_other_metadata_replaces_the_version_in_place(here: Room) -> None:
    await here.publish(KIDNEY)
    published = await here.publish(KIDNEY.said(title="Another", access_labels=("staff",)))
    assert (published.changed, published.superseded_version) == (True, "")
    assert await here.documents("renal cysts") == []
    (found,) = {
        one.document.title for one in (await here.search("renal cysts", labels=frozenset({"staff"}))).parents
    }
    assert found == "Another"
    assert await points(here) == 5


async def test_a_change_of_topic_moves_the_document(here: Room) -> None:
    await here.publish(KIDNEY, LIVER)
    await here.publish(KIDNEY.said(topic="anatomy"))
    assert await here.documents("renal cysts", topics=("safety",)) == []
    assert (await here.documents("renal cysts", topics=("anatomy",)))[0] == "kidney"
    assert (await points(here, "safety"), await points(here, "anatomy")) == (0, 5 + 3)


async def test_equal_passages_of_one_document_are_all_kept(here: Room) -> None:
    await here.publish(
        made("twice", "Same words here. Same words here.", "Same words here. Same words here.")
    )
    found = await here.search("same words here")
    assert len(found.parents) == 2
    assert sum(len(parent.children) for parent in found.parents) == 4


# Three texts of each document that share a sentence, and what takes all of them out.
TEXTS = {
    name: [
        made(name, f"{name} is common. Contrast shows it.", *more, topic=topic)
        for more in ((), (f"Another {name}.",), (f"{name} is rare. A third {name}.",))
    ]
    for name, topic in (("kidney", "safety"), ("liver", "anatomy"))
}
DELETED = None
# The disk would have to keep each publication of each example.
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
STEPS = st.lists(st.tuples(st.sampled_from(sorted(TEXTS)), st.sampled_from([0, 1, 2, DELETED])), max_size=6)


@settings(max_examples=15)
@example([("kidney", 0), ("liver", 0), ("kidney", 1)])
@given(STEPS)
async def test_any_sequence_of_publications_leaves_exactly_the_last_children(
    steps: list[tuple[str, int | None]],
) -> None:
    last: dict[str, Made] = {}
    with TemporaryDirectory(dir=IN_MEMORY) as folder:
        async with room(Path(folder)) as here:
            for name, which in steps:
                if which is DELETED:
                    last.pop(name, None)
                    await here.index.delete(name)
                else:
                    last[name] = TEXTS[name][which]
                    await here.publish(last[name])
            await here.index.settle()
            for name, texts in TEXTS.items():
                assert await held(here, name, texts[0].header.document.topic) == children(last.get(name))


def children(one: Made | None) -> set[str]:
    return {child.child_id for child in one.children} if one else set()


async def held(here: Room, name: str, topic: str) -> set[str]:
    """The ids of the children of a document's live version, as the store has them."""
    async with here.index.reading() as view:
        live = view.generation.live() if view.generation else ()
        editions = [one.edition for one in live if one.document.document_id == name]
    assert len(editions) <= 1
    found = [
        record
        for edition in editions
        for record in await here.store.find(Collection("g1", topic), of_edition(edition, "child"))
    ]
    ids = [str(record.payload["passage_id"]) for record in found]
    assert len(set(ids)) == len(ids)
    return set(ids)


async def test_delete_removes_one_version_or_all(here: Room) -> None:
    old, new = made("dose", "Old limit."), made("dose", "New limit.", valid_from=50)
    await here.publish(old, new, KIDNEY)
    removed, _ = await here.index.delete("dose", old.header.document.version)
    assert removed == [old.header.document.version]
    only = {"document_ids": ("dose",)}
    assert await here.documents("limit", day=20, **only) == []
    assert await here.documents("limit", **only) == ["dose"]
    removed, revision = await here.index.delete("dose")
    assert removed == [new.header.document.version]
    assert "dose" not in await here.documents("limit")
    assert await points(here) == 5
    assert await here.index.delete("dose") == ([], revision)


async def test_frequencies_follow_the_live_children(here: Room) -> None:
    async def children() -> int:
        async with here.index.reading() as view:
            return view.generation.frequencies.children if view.generation else 0

    assert await children() == 0
    await here.publish(KIDNEY, LIVER)
    assert await children() == 5
    await here.publish(made("kidney", "One child."))
    assert await children() == 3
    await here.index.delete("liver")
    assert await children() == 1


BROKEN = {
    "a child is missing": (replace(KIDNEY, children=KIDNEY.children[1:]), "header.children"),
    "a parent is missing": (replace(KIDNEY, parents=KIDNEY.parents[1:]), "header.parents"),
    "a parent comes twice": (
        replace(KIDNEY, parents=[KIDNEY.parents[0]] * 2),
        r"passages.parents\[1\].parent_id",
    ),
    "a child of nobody": (
        replace(
            KIDNEY,
            children=[
                replace(KIDNEY.children[0], parent_id=KIDNEY.children[0].child_id),
                *KIDNEY.children[1:],
            ],
        ),
        "passages.children.parent_id",
    ),
    "a child outside its parent": (
        replace(KIDNEY, children=[replace(KIDNEY.children[0], start=900, end=923), *KIDNEY.children[1:]]),
        "passages.children.start",
    ),
    "a text of another length": (
        replace(KIDNEY, children=[replace(KIDNEY.children[0], text="short"), *KIDNEY.children[1:]]),
        r"passages.children\[0\].text",
    ),
    "a vector of another dimension": (
        replace(KIDNEY, children=[replace(KIDNEY.children[0], vector=(1.0,)), *KIDNEY.children[1:]]),
        f"vector: must have {DIMENSION}",
    ),
    "a vector with NaN": (
        replace(
            KIDNEY,
            children=[replace(KIDNEY.children[0], vector=(float("nan"),) * DIMENSION), *KIDNEY.children[1:]],
        ),
        "finite",
    ),
    "a vector that is not normalised": (
        replace(
            KIDNEY, children=[replace(KIDNEY.children[0], vector=(0.5,) * DIMENSION), *KIDNEY.children[1:]]
        ),
        "length 1",
    ),
}


@pytest.mark.parametrize(("broken", "named"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_publication_is_refused_and_leaves_nothing(
    here: Room, broken: Made, named: str
) -> None:
    await here.publish(LIVER)
    with pytest.raises(InvalidArgument, match=named):
        await here.publish(broken)
    assert await here.documents("renal cysts", topics=("safety",)) == []
    assert await points(here) == 0
    await here.publish(KIDNEY)
    assert await here.documents("renal cysts", topics=("safety",)) == ["kidney", "kidney"]


async def test_a_stream_that_breaks_leaves_the_old_version_alone(here: Room) -> None:
    async def breaking() -> AsyncIterator[Batch]:
        yield Batch(new.parents, new.children[:1])
        raise ConnectionError

    new = made("kidney", "Renal cysts are rare. Nothing else.")
    await here.publish(KIDNEY)
    with pytest.raises(ConnectionError):
        await here.index.publish(new.header, breaking())
    assert {one.parent.text for one in (await here.search("renal cysts")).parents} == {
        parent.text for parent in KIDNEY.parents
    }
    assert await points(here) == 5


async def test_another_fingerprint_is_refused_with_both_values(here: Room) -> None:
    await here.publish(KIDNEY)
    other = replace(FINGERPRINT, pooling="late", max_child_tokens=256)
    with pytest.raises(FailedPrecondition) as failure:
        await here.publish(replace(LIVER, header=replace(LIVER.header, fingerprint=other)))
    assert "pooling is 'late', the index has 'chunk'" in failure.value.message
    assert "max_child_tokens is 256, the index has 512" in failure.value.message


async def test_a_generation_is_built_beside_and_switched_at_once_and_back(here: Room) -> None:
    late = replace(FINGERPRINT, pooling="late")
    await here.publish(KIDNEY, LIVER)
    await here.index.create_generation("g2", late)
    for one in (KIDNEY, made("lung", "Pulmonary nodule on CT.")):
        await here.publish(replace(one, header=replace(one.header, fingerprint=late, generation="g2")))
    assert "lung" not in await here.documents("pulmonary nodule")
    assert await here.documents("pulmonary nodule", generation="g2") == ["lung", "kidney", "kidney"]
    await here.index.switch("g2")
    assert (await here.search("nodule")).generation == "g2"
    assert "liver" not in await here.documents("hepatic haemangioma")
    with pytest.raises(FailedPrecondition):
        await here.publish(LIVER)
    await here.index.switch("g1")
    assert (await here.documents("hepatic haemangioma"))[0] == "liver"
    await here.index.drop_generation("g2")
    with pytest.raises(FailedPrecondition, match="unknown"):
        await here.search("nodule", generation="g2")


async def test_a_publication_on_its_way_into_a_generation_that_was_left_is_refused(here: Room) -> None:
    """It would be lost: the generation switched to was built without it."""

    async def switching() -> AsyncIterator[Batch]:
        yield Batch(LIVER.parents, LIVER.children)
        await here.index.switch("g2")

    await here.publish(KIDNEY)
    await here.index.create_generation("g2", FINGERPRINT)
    await here.publish(replace(KIDNEY, header=replace(KIDNEY.header, generation="g2")))
    with pytest.raises(FailedPrecondition, match="publish again"):
        await here.index.publish(LIVER.header, switching())
    await here.publish(LIVER)
    assert await here.documents("hepatic haemangioma", topics=("anatomy",)) == ["liver"]


async def test_nothing_is_switched_once_something_was_published(here: Room) -> None:
    await here.publish(KIDNEY)
    await here.index.create_generation("g2", FINGERPRINT)
    with pytest.raises(FailedPrecondition, match="holds nothing"):
        await here.index.switch("g2")
    await here.publish(replace(KIDNEY, header=replace(KIDNEY.header, generation="g2")))
    snapshot, current = await here.index.generations()
    await here.publish(LIVER)
    with pytest.raises(FailedPrecondition, match="no longer at"):
        await here.index.switch("g2", snapshot.revision)
    assert (await here.index.generations())[1] == current == "g1"
    snapshot, _ = await here.index.generations()
    assert (await here.index.switch("g2", snapshot.revision))[0] == "g1"


async def test_a_name_can_be_used_again_after_a_drop(here: Room) -> None:
    late = replace(FINGERPRINT, embedder=replace(FINGERPRINT.embedder, dimension=3))
    await here.publish(KIDNEY)
    for fingerprint in (FINGERPRINT, late):
        await here.index.create_generation("g2", fingerprint)
        dimension = fingerprint.embedder.dimension
        children = [
            replace(one, vector=vector(one.text) if dimension == DIMENSION else (1.0, 0.0, 0.0))
            for one in KIDNEY.children
        ]
        header = replace(KIDNEY.header, generation="g2", fingerprint=fingerprint)
        await here.publish(replace(KIDNEY, header=header, children=children))
        assert await points(here, generation="g2") == 5
        await here.index.drop_generation("g2")


async def test_delete_reaches_every_generation(here: Room) -> None:
    await here.publish(KIDNEY)
    await here.index.create_generation("g2", FINGERPRINT)
    await here.publish(replace(KIDNEY, header=replace(KIDNEY.header, generation="g2")))
    await here.index.delete("kidney", generation="g2")
    assert [await points(here, generation=one) for one in ("g1", "g2")] == [5, 0]
    await here.publish(replace(KIDNEY, header=replace(KIDNEY.header, generation="g2")))
    await here.index.delete("kidney")
    assert [await points(here, generation=one) for one in ("g1", "g2")] == [0, 0]


async def test_the_vector_of_a_child_is_stored_as_it_came(here: Room) -> None:
    await here.publish(KIDNEY)
    (hit,) = await here.store.nearest(Collection("g1", "safety"), vector("Contrast shows them."), (), 1)
    assert hit.score == pytest.approx(1, abs=1e-5)
