"""What reranker and generator keep of the windows they read last."""

from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np
import pytest
from e5_encoder import Encoder, Floats
from late_interaction import LateInteraction
from recent import Recent

from tests.model_repository.conftest import FILES
from tests.model_repository.test_lexical_late_interaction import FAR, FOLDER, NEAR, QUESTION, RIGHT, scores

SIZE: Callable[[Floats], int] = attrgetter("nbytes")


class Reads:
    """Reads texts as states of so many thousand bytes as they are long, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[Floats]:
        self.asked.append(list(texts))
        return [np.full((len(text), 250), len(text), np.float32) for text in texts]


def test_a_window_is_read_once_and_only_missing_ones_are_read() -> None:
    reads, recent = Reads(), Recent(SIZE, 1)
    first = recent.of(["a", "bb", "a"], reads)
    second = recent.of(["bb", "ccc"], reads)
    assert reads.asked == [["a", "bb"], ["ccc"]]
    assert {text: int(states[0, 0]) for text, states in (first | second).items()} == {
        "a": 1,
        "bb": 2,
        "ccc": 3,
    }


def test_the_longest_unused_go_first_and_the_limit_is_kept() -> None:
    reads, recent = Reads(), Recent(SIZE, 1)  # a thousand characters
    recent.of(["a" * 400, "b" * 400], reads)
    recent.of(["a" * 400], reads)
    recent.of(["c" * 400], reads)
    recent.of(["a" * 400], reads)
    recent.of(["b" * 400], reads)
    assert [[text[0] for text in texts] for texts in reads.asked] == [["a", "b"], [], ["c"], [], ["b"]]


def test_what_is_larger_than_the_limit_is_returned_and_not_kept() -> None:
    reads, recent = Reads(), Recent(SIZE, 0)
    assert [recent.of(["a"], reads)["a"].shape for _ in range(2)] == [(1, 250)] * 2
    assert reads.asked == [["a"], ["a"]]


def test_fewer_than_none_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="recent_megabytes is -1"):
        Recent(SIZE, -1)


def test_scores_are_the_same_from_what_was_kept(encoder: Encoder) -> None:
    """`encoder`: converted files are there."""
    fresh, keeps = LateInteraction.load(FOLDER, FILES), LateInteraction.load(FOLDER, FILES, megabytes=8)
    scores(keeps, QUESTION, FAR, RIGHT)
    np.testing.assert_allclose(
        scores(keeps, QUESTION, RIGHT, NEAR, FAR), scores(fresh, QUESTION, RIGHT, NEAR, FAR), atol=1e-4
    )
