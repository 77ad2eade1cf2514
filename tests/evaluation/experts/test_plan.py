"""Who rates what: balance, authors, seeds, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.experts import plan
from evaluation.experts.plan import RatedQuestion, Rater, planned
from evaluation.jsonl import DatasetError
from tests.evaluation.experts.simulated import questions, raters


@given(seed=st.integers(0, 1000), count=st.integers(20, 120))
def test_groups_are_balanced_and_no_author_rates_their_own(seed: int, count: int) -> None:
    made = planned(questions(count), raters(), seed=seed)
    sizes = [len(some) for some in made.groups]
    assert sizes == [6, 6, 6, 6]
    for department in {rater.department for rater in raters()}:
        raters_in = [sum(r.department == department for r in some) for some in made.groups]
        assert max(raters_in) - min(raters_in) <= 1
    for question in made.questions:
        assert question.author not in {r.name for r in made.groups[made.group_of[question.id]]}
        same = Counter(made.group_of[q.id] for q in made.questions if q.department == question.department)
        assert max(same.values()) - min(same[k] for k in range(4)) <= 2
    loads = Counter(made.group_of.values())
    assert max(loads.values()) - min(loads.values()) <= 5


def test_the_same_seed_gives_the_same_plan_and_another_one_does_not() -> None:
    one, same, other = (planned(questions(40), raters(), seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.study == same.study != other.study


def test_a_plan_comes_back_from_its_file(tmp_path: Path) -> None:
    made = planned(questions(20), raters(8), seed=3)
    plan.write(made, tmp_path / "plan.json")
    assert plan.read(tmp_path / "plan.json") == made


def test_too_few_raters_and_authors_everywhere_are_named() -> None:
    with pytest.raises(ValueError, match="4 groups need 8 raters at least; there are 5"):
        planned(questions(5), raters(5))
    two = [Rater("A", "CT"), Rater("B", "CT")]
    with pytest.raises(ValueError, match="question q: its author A is in every group"):
        planned([RatedQuestion("q", "CT", "A", "?", "!")], two, groups=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rater,department\nA,CT\nA,MRI\n", ":3: the rater 'A' was named before"),
        ("rater,department\nA,\n", ":2: needs the columns"),
        ("name;department\nA;CT\n", ":2: needs the columns"),
    ],
)
def test_a_wrong_list_of_raters_is_named_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "raters.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=message):
        plan.raters_from(path)


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"seed": 1, "groups": [[{"x": 1}]]}'])
def test_what_is_no_plan_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(DatasetError, match="is not a plan"):
        plan.read(path)
