"""The table of states: what is not in it is refused; every state leads on, can be retried and deleted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.catalogue.history import Event, voters
from ingest.catalogue.states import NEXT, SEARCHABLE, Act, State, after
from radrag.errors import FailedPrecondition

ALIVE = [state for state in State if state is not State.DELETED]


def reachable(start: State, acts: frozenset[Act] = frozenset(Act)) -> set[State]:
    """The states some acts lead to from `start`."""
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        new = {to for (state, act), to in NEXT.items() if state is here and act in acts} - seen
        seen |= new
        waiting += new
    return seen


@given(st.sampled_from(State), st.sampled_from(Act))
def test_an_act_leads_where_the_table_says_or_is_refused_with_what_is_possible(
    state: State, act: Act
) -> None:
    if (state, act) in NEXT:
        assert after(state, act) is NEXT[state, act]
        return
    with pytest.raises(FailedPrecondition, match=state.value) as refused:
        after(state, act)
    assert all(one.value in refused.value.message for one in Act if (state, one) in NEXT)


@pytest.mark.parametrize("state", ALIVE)
def test_every_state_can_be_retried_and_deleted_and_may_be_published_again(state: State) -> None:
    assert (state, Act.RETRY) in NEXT
    assert NEXT[state, Act.DELETE] is State.DELETED
    assert State.PUBLISHED in reachable(state)


def test_nothing_follows_a_deletion() -> None:
    assert not [pair for pair in NEXT if pair[0] is State.DELETED]


@given(st.lists(st.sampled_from(Act), max_size=30))
def test_on_any_way_nothing_is_searchable_that_was_not_approved_since_it_last_came_into_review(
    acts: list[Act],
) -> None:
    state, covered = State.DISCOVERED, False
    for act in acts:
        if (state, act) not in NEXT:
            continue
        state = NEXT[state, act]
        covered = act is Act.APPROVE or (covered and state not in {State.IN_REVIEW, State.REJECTED})
        assert covered or state not in SEARCHABLE


def test_without_an_approval_no_way_leads_to_publication() -> None:
    without = frozenset(Act) - {Act.APPROVE}
    for state in (
        State.DISCOVERED,
        State.PARSED,
        State.IN_REVIEW,
        State.REJECTED,
        State.RETIRED,
        State.FAILED,
    ):
        assert not reachable(state, without) & SEARCHABLE


def event(act: Act, subject: str, state: State = State.IN_REVIEW) -> Event:
    return Event(act, State.IN_REVIEW, state, subject, 0, "")


def test_approvals_count_once_a_person_and_only_since_the_version_came_into_review() -> None:
    votes = [event(Act.VOTE, "anna"), event(Act.VOTE, "anna"), event(Act.APPROVE, "boris", State.APPROVED)]
    assert voters(votes) == ["anna", "boris"]
    assert voters([*votes, event(Act.RETRY, "carl")]) == []
    assert voters([*votes, event(Act.RETRY, "carl", State.PUBLISHED)]) == ["anna", "boris"]
    assert voters([*votes, event(Act.REJECT, "carl"), event(Act.VOTE, "dora")]) == ["dora"]
