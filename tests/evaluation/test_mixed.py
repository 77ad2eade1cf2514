"""Several data sets as one, each in a topic of its own."""

from pathlib import Path

import pytest

from evaluation import mixed
from evaluation.datasets import Document
from evaluation.jsonl import DatasetError
from tests.evaluation.tiny import beir, ours

KIDNEY = {"a": "Cysts of the kidney.", "b": "Stones of the kidney."}
LUNG = {"a": "Nodules of the lung."}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    beir(tmp_path / "sets" / "kidney", KIDNEY, {"Where are cysts?": "a"})
    beir(tmp_path / "sets" / "inner" / "lung", LUNG, {"Where are nodules?": "a"})
    ours(tmp_path / "sets" / "ours")
    (tmp_path / "sets" / "notes").mkdir()
    return tmp_path / "sets"


def test_every_set_below_a_folder_is_found_and_a_set_is_itself(sets: Path) -> None:
    assert [one.name for one in mixed.sets_below(sets)] == ["lung", "kidney", "ours"]
    assert mixed.sets_below(sets / "kidney") == [sets / "kidney"]


@pytest.mark.parametrize(("name", "said"), [("notes", "holds no data set"), ("gone", "is not a folder")])
def test_a_folder_without_sets_is_named(sets: Path, name: str, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        mixed.sets_below(sets / name)


def test_equal_ids_of_two_sets_stay_apart_and_places_move_along(sets: Path) -> None:
    one = mixed.mixed([mixed.loaded(sets / name) for name in ("kidney", "inner/lung")])
    assert [document.id for document in one.documents] == ["kidney/a", "kidney/b", "lung/a"]
    assert one.qrels == {"kidney/q0": {"kidney/a": 1}, "lung/q0": {"lung/a": 1}}
    assert [span.document for query in one.queries for span in query.answers] == ["kidney/a", "lung/a"]
    assert [query.groups for query in one.queries] == [(("set", "kidney"),), (("set", "lung"),)]


def test_our_layout_is_measured_on_its_answerable_questions(sets: Path) -> None:
    one = mixed.loaded(sets / "ours")
    assert one.qrels == {"both": {"mr": 1, "ct": 1}, "dose": {"ct": 1}}
    assert one.unjudged_queries == 1
    assert one.queries[0].groups == (("topic", "physics"), ("language", "en"), ("complexity", "2"))


def test_a_set_given_twice_is_refused(sets: Path) -> None:
    with pytest.raises(DatasetError, match="given twice"):
        mixed.mixed([mixed.loaded(sets / "kidney")] * 2)


def test_each_set_has_a_topic_and_too_few_topics_are_refused() -> None:
    documents = [Document("x/1", "", "", "x"), Document("y/1", "", "", "y"), Document("x/2", "", "", "x")]
    assert mixed.by_part(documents, ("one", "two")) == {"x/1": "one", "y/1": "two", "x/2": "one"}
    with pytest.raises(DatasetError, match="2 sets are more than 1 topics"):
        mixed.by_part(documents, ("one",))
