"""The encoder against onnxruntime called directly, and the properties its callers rest on."""

import itertools
import json
import unicodedata

import numpy as np
import onnxruntime as ort
import pytest
from e5_encoder import OVERLAP, PASS_STRETCH, PASS_TOKENS, Encoder, Floats, passes, stitched, windows
from hypothesis import given
from hypothesis import strategies as st

from tests.model_repository.conftest import FILES

ENGLISH = "The deep sulcus sign suggests a pneumothorax on a supine film."
RUSSIAN = "Пневмоторакс на снимке лёжа легко пропустить: ищите углублённый синус."
EMOJI = "Снимок 🩻 готов, see the 👩‍⚕️ at 17:30!"
LONG = " ".join([RUSSIAN, ENGLISH, EMOJI] * 24)


@pytest.fixture(scope="module")
def direct() -> ort.InferenceSession:
    return ort.InferenceSession(str(FILES / "model.onnx"), providers=["CPUExecutionProvider"])


def states_of(direct: ort.InferenceSession, ids: list[int]) -> Floats:
    """One row, no padding, straight through the graph."""
    row = np.array([ids], np.int64)
    (states,) = direct.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})
    return np.asarray(states[0], np.float32)


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, EMOJI])
def test_a_text_is_the_unit_mean_of_all_its_token_states(
    encoder: Encoder, direct: ort.InferenceSession, text: str
) -> None:
    mean = states_of(direct, encoder.tokenizer.encode("query: " + text).ids).mean(axis=0)
    (vector,) = encoder.embed([text], "query: ").vectors
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_a_batch_does_not_change_a_vector(encoder: Encoder) -> None:
    """Rows of many lengths share passes and are padded; alone they are not."""
    texts = [ENGLISH, RUSSIAN, "я", EMOJI, LONG[:900], ENGLISH + " " + RUSSIAN, "X-ray", LONG[:700]]
    together = encoder.embed(texts, "passage: ").vectors
    alone = np.concatenate([encoder.embed([text], "passage: ").vectors for text in texts])
    np.testing.assert_allclose(together, alone, atol=2e-6)


def test_states_leave_out_prefix_and_special_tokens(encoder: Encoder, direct: ort.InferenceSession) -> None:
    whole = states_of(direct, encoder.tokenizer.encode("passage: " + RUSSIAN).ids)
    ((states, offsets, ids),) = encoder.token_states([RUSSIAN], "passage: ")
    prefix = len(encoder.tokenizer.encode("passage:", add_special_tokens=False).ids)
    np.testing.assert_allclose(states, whole[1 + prefix : -1], atol=2e-6)
    assert len(states) == len(offsets) == len(ids)


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, EMOJI, LONG, "  blanks\n\n around\t it ", "ﬁ ½ №"])
def test_every_visible_character_has_a_token_and_no_range_begins_with_a_blank(
    encoder: Encoder, text: str
) -> None:
    offsets = encoder.tokens(text, "query: ").offsets
    covered = {position for start, end in offsets for position in range(start, end)}
    assert {position for position, character in enumerate(text) if not character.isspace()} <= covered
    assert not any(text[start].isspace() or text[end - 1].isspace() for start, end in offsets if start < end)
    assert list(offsets[:, 0]) == sorted(offsets[:, 0])


def test_a_decomposed_letter_has_the_tokens_of_the_composed_one(encoder: Encoder) -> None:
    """Text from PDF often spells й as и and a breve."""
    decomposed = unicodedata.normalize("NFD", RUSSIAN)
    assert decomposed != RUSSIAN
    assert encoder.tokens(decomposed, "query: ").ids == encoder.tokens(RUSSIAN, "query: ").ids


def test_a_text_that_quotes_a_special_token_goes_on_after_it(encoder: Encoder) -> None:
    tokens = encoder.tokens("before </s> after", "query: ")
    assert [tuple(offset) for offset in tokens.offsets][-1] == (12, 17)


def test_a_text_beyond_the_window_is_cut_and_says_so(encoder: Encoder) -> None:
    room = encoder.room("passage: ")
    fits, longer = " ".join(["a"] * room), " ".join(["a"] * (room + 1))
    reply = encoder.embed([fits, longer], "passage: ")
    assert (reply.tokens, reply.truncated) == ([room, room + 1], [False, True])
    np.testing.assert_allclose(reply.vectors[0], reply.vectors[1], atol=1e-6)


def test_limits_file_says_what_the_encoder_does(encoder: Encoder) -> None:
    """Ingest cuts its chunks by this file."""
    limits = json.loads((FILES / "limits.json").read_text(encoding="utf-8"))
    rooms = {task: encoder.room(prefix) for task, prefix in limits["prefixes"].items()}
    assert (limits["content_tokens"], limits["dimension"]) == (rooms, encoder.dimension)


def test_a_long_text_takes_each_state_from_the_window_that_knows_most_around_it(
    encoder: Encoder, direct: ort.InferenceSession
) -> None:
    """Recomputed token by token: of the windows that hold it, the one whose nearer cut is furthest."""
    ((states, _, ids),) = encoder.token_states([LONG], "passage: ")
    prefix = encoder.tokenizer.encode("passage:", add_special_tokens=False).ids
    plan = windows(len(ids), encoder.room("passage: "))
    assert len(plan) > 2
    parts = [states_of(direct, [0, *prefix, *ids[a:b], 2])[1 + len(prefix) : -1] for a, b in plan]
    for token in range(0, len(ids), 7):
        holding = [(number, a, b) for number, (a, b) in enumerate(plan) if a <= token < b]
        candidates = sorted(holding, key=lambda window: to_nearest_cut(token, window[1], window[2], len(ids)))
        number, start, _ = candidates[-1]
        np.testing.assert_allclose(states[token], parts[number][token - start], atol=1e-4)


def to_nearest_cut(token: int, start: int, end: int, count: int) -> float:
    """Tokens between this one and the window's nearer cut; the text's own ends are no cuts."""
    left = token - start if start else float("inf")
    right = end - 1 - token if end < count else float("inf")
    return min(left, right)


@given(count=st.integers(0, 6_000), room=st.integers(OVERLAP + 1, 600))
def test_windows_cover_all_tokens_overlap_enough_and_are_of_one_length(count: int, room: int) -> None:
    plan = windows(count, room)
    assert (plan[0][0], plan[-1][1]) == (0, count)
    assert len({end - start for start, end in plan}) == 1
    assert all(end - start <= room for start, end in plan)
    assert all(left[1] - right[0] >= OVERLAP - 1 for left, right in itertools.pairwise(plan))


@given(count=st.integers(1, 3_000))
def test_stitching_gives_every_token_its_own_state(count: int) -> None:
    """With the token's number as its state, the stitched states are 0, 1, 2…"""
    plan = windows(count, 508)
    parts = [np.arange(start, end, dtype=np.float32)[:, None] for start, end in plan]
    assert stitched(plan, parts)[:, 0].tolist() == list(range(count))


def test_long_rows_go_alone_and_short_ones_together() -> None:
    assert list(passes([300, 300])) == [[0], [1]]
    assert list(passes([20] * 16)) == [list(range(16))]


@given(st.lists(st.integers(3, 512), max_size=80))
def test_passes_hold_every_row_once_within_their_limits(lengths: list[int]) -> None:
    groups = list(passes(lengths))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        longest, shortest = max(lengths[i] for i in group), min(lengths[i] for i in group)
        assert longest * len(group) <= PASS_TOKENS
        assert longest <= shortest * PASS_STRETCH or len(group) == 1
