"""Windows cover exactly, states are stitched one per token, passes keep their budget: for all sizes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_passes import SLACK, STRETCH, padded, passes
from token_windows import OVERLAP, stitched, visible, windows


@given(count=st.integers(0, 6_000), room=st.integers(OVERLAP + 1, 600))
def test_windows_cover_all_tokens_overlap_enough_and_are_of_one_length(count: int, room: int) -> None:
    plan = windows(count, room)
    assert (plan[0][0], plan[-1][1]) == (0, count)
    assert len({end - start for start, end in plan}) == 1
    assert all(end - start <= room for start, end in plan)
    assert all(left[1] - right[0] >= OVERLAP - 1 for left, right in itertools.pairwise(plan))


def test_windows_that_could_not_move_on_are_refused() -> None:
    with pytest.raises(ValueError, match="window of 128 tokens cannot overlap by 128"):
        windows(1_000, OVERLAP)


@given(count=st.integers(1, 3_000), room=st.integers(OVERLAP + 1, 600))
def test_stitching_gives_every_token_its_own_state(count: int, room: int) -> None:
    """With the token's number as its state, the stitched states are 0, 1, 2…"""
    plan = windows(count, room)
    parts = [np.arange(start, end, dtype=np.float32)[:, None] for start, end in plan]
    assert stitched(plan, parts)[:, 0].tolist() == list(range(count))


@given(lengths=st.lists(st.integers(1, 900), max_size=60), budget=st.integers(64, 4_096))
def test_passes_hold_each_row_once_within_the_budget_and_little_padding(
    lengths: list[int], budget: int
) -> None:
    groups = list(passes(lengths, budget))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        longest, shortest = max(lengths[at] for at in group), min(lengths[at] for at in group)
        assert len(group) == 1 or padded(longest) * len(group) <= budget
        assert longest <= shortest * STRETCH + SLACK


def test_a_tokens_range_leaves_out_the_blank_before_its_word() -> None:
    text = "на КТ  "
    ranges = visible(text, np.array([[-1, 2], [2, 5], [5, 7]]))
    assert ranges.tolist() == [[0, 2], [3, 5], [7, 7]]
