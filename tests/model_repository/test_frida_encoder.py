"""FRIDA's numbers against transformers called directly, on a tiny model of the same class.

Runs where PyTorch is: in the model servers' environment (`make test-torch`).
"""

# ruff: noqa: E402 - what follows needs PyTorch

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the model servers' environment: `make test-torch`")
# Rows are short: threads that wait for each other cost more than they compute.
torch.set_num_threads(1)

import frida_golden
from frida_embedder import Embedder, InvalidRequest, NotFinite, Pooling, Reply, Request, own_means
from frida_encoder import WINDOW, FridaEncoder
from frida_tokens import PREFIXES
from local_model import CannotLoad, Place, named_device, named_precision
from token_windows import Floats, windows
from transformers import PreTrainedTokenizerFast, T5EncoderModel

from tests.model_repository.tiny_bundles import tiny_bundle

ENGLISH = "The deep sulcus sign suggests a pneumothorax on a supine film."
RUSSIAN = "Пневмоторакс на снимке лёжа легко пропустить: ищите углублённый синус."
EMOJI = "Снимок 🩻 готов, see the 👩‍⚕️ at 17:30!"
LONG = " ".join([RUSSIAN, ENGLISH, EMOJI] * 16)
TEXTS = [
    *(f"{ENGLISH} Case {number}, {'norm ' * (number % 7)}end." for number in range(18)),
    *(f"{RUSSIAN} Случай {number}, {'норма ' * (number % 9)}конец." for number in range(18)),
    *(f"{EMOJI} {'🩻' * number}" for number in range(8)),
    *(f"{LONG} {number}" for number in range(4)),
    "я",
    "  blanks\n\n around\t it ",
]
DOCUMENT = "Доза при КТ — 5 мЗв 🩻. The limit for staff is 20 mSv a year. Норма аорты до 40 мм."
SPANS = ((0, 23), (24, 61), (62, len(DOCUMENT)))


@pytest.fixture(scope="module")
def folder() -> Path:
    return tiny_bundle("frida")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> FridaEncoder:
    return FridaEncoder.load(folder, Place("cpu"))


@pytest.fixture(scope="module")
def model(folder: Path) -> T5EncoderModel:
    """The reference: plain attention, row by row."""
    return T5EncoderModel.from_pretrained(folder, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))


def states_of(model: T5EncoderModel, ids: list[int]) -> Floats:
    with torch.inference_mode():
        return np.asarray(model(torch.tensor([ids])).last_hidden_state[0].numpy(), np.float32)


def reference(model: T5EncoderModel, tokenizer: PreTrainedTokenizerFast, text: str) -> Floats:
    """As FRIDA's own description computes it."""
    ids = tokenizer(text, truncation=True, max_length=512)["input_ids"]
    first = states_of(model, ids)[0]
    return np.asarray(first / np.linalg.norm(first), np.float32)


@pytest.mark.parametrize("task", PREFIXES)
def test_fifty_vectors_are_those_of_transformers_together_and_one_by_one(
    encoder: FridaEncoder, model: T5EncoderModel, tokenizer: PreTrainedTokenizerFast, task: str
) -> None:
    assert len(TEXTS) == 50
    expected = np.array([reference(model, tokenizer, PREFIXES[task] + text) for text in TEXTS])
    together = encoder.embed(TEXTS, PREFIXES[task])
    alone = np.concatenate([encoder.embed([text], PREFIXES[task]).vectors for text in TEXTS])
    for found in (together.vectors, alone):
        assert ((found * expected).sum(axis=1) >= 0.9999).all()
    np.testing.assert_allclose(together.vectors, alone, atol=2e-6)
    assert [text for text, cut in zip(TEXTS, together.truncated, strict=True) if cut] == TEXTS[44:48]


def test_vectors_tell_texts_and_prefixes_apart(encoder: FridaEncoder) -> None:
    """The parity above would hold for a model that answers always alike."""
    queries, documents = (encoder.embed(TEXTS, PREFIXES[task]).vectors for task in PREFIXES)
    assert np.median(queries @ queries.T) < 0.99
    assert np.median((queries * documents).sum(axis=1)) < 0.99


def test_attention_is_the_fused_one(encoder: FridaEncoder) -> None:
    assert encoder.model.config._attn_implementation == "sdpa"
    assert encoder.model.dtype == torch.float32


def test_a_text_beyond_the_window_is_cut_and_says_so(encoder: FridaEncoder) -> None:
    prefix = PREFIXES["document"]
    text = "мм " * 700
    tokens = encoder.tokenizer.tokens(text, prefix)
    room = encoder.tokenizer.room(tokens.prefix, WINDOW)
    fits = text[: tokens.offsets[room - 1][0]].rstrip()
    reply = encoder.embed([fits, text], prefix)
    assert reply.truncated == [False, True]
    assert reply.tokens[0] <= room < reply.tokens[1]


def test_limits_file_says_what_the_encoder_does(encoder: FridaEncoder, folder: Path) -> None:
    """Ingest cuts its chunks by this file."""
    limits = json.loads((folder / "limits.json").read_text(encoding="utf-8"))
    prefixes = {task: encoder.tokenizer.tokens("a", prefix).prefix for task, prefix in PREFIXES.items()}
    rooms = {task: encoder.tokenizer.room(ids, WINDOW) for task, ids in prefixes.items()}
    assert (limits["content_tokens"], limits["dimension"]) == (rooms, encoder.dimension)
    assert limits["prefixes"] == PREFIXES


def embed(
    encoder: FridaEncoder, pooling: Pooling, *spans: tuple[int, int], alpha: float = 0.5, text: str = DOCUMENT
) -> Reply:
    (reply,) = Embedder(encoder, pooling, alpha).embed([Request(text, PREFIXES["document"], spans)])
    assert isinstance(reply, Reply)
    return reply


def late_by_hand(
    model: T5EncoderModel, tokenizer: PreTrainedTokenizerFast, text: str, spans: tuple[tuple[int, int], ...]
) -> Floats:
    """The definition, step by step, sharing no code: encode the parent once, walk its tokens, average those
    of each span. A token belongs to the span that holds its first character that is not a blank."""
    whole = "search_document: " + text
    encoding = tokenizer(whole, return_offsets_mapping=True, return_special_tokens_mask=True)
    states = states_of(model, encoding["input_ids"])
    sums = {span: np.zeros(states.shape[1]) for span in spans}
    counts = dict.fromkeys(spans, 0)
    for state, (start, end), special in zip(
        states, encoding["offset_mapping"], encoding["special_tokens_mask"], strict=True
    ):
        seen = [at for at in range(start, end) if not whole[at].isspace()]
        if special or not seen:
            continue
        for span in spans:
            if span[0] <= seen[0] - len("search_document: ") < span[1]:
                sums[span] += state
                counts[span] += 1
    means = np.array([sums[span] / counts[span] for span in spans])
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)


def test_late_vectors_are_the_means_of_their_own_tokens_of_the_parents_pass(
    encoder: FridaEncoder, model: T5EncoderModel, tokenizer: PreTrainedTokenizerFast
) -> None:
    reply = embed(encoder, Pooling.LATE, *SPANS)
    np.testing.assert_allclose(reply.vectors, late_by_hand(model, tokenizer, DOCUMENT, SPANS), atol=1e-5)


def test_a_long_text_takes_each_state_from_the_window_that_knows_most_around_it(
    encoder: FridaEncoder, model: T5EncoderModel
) -> None:
    """Recomputed token by token: of the windows that hold it, the one whose nearer cut is furthest."""
    prefix = PREFIXES["document"]
    ((states, _),) = encoder.token_states([LONG], prefix)
    tokens = encoder.tokenizer.tokens(LONG, prefix)
    plan = windows(len(tokens.ids), encoder.tokenizer.room(tokens.prefix, WINDOW))
    assert len(plan) > 2
    skip = 1 + len(tokens.prefix)
    parts = [states_of(model, [1, *tokens.prefix, *tokens.ids[a:b], 2])[skip:-1] for a, b in plan]
    for token in range(0, len(tokens.ids), 7):
        holding = [(number, a, b) for number, (a, b) in enumerate(plan) if a <= token < b]
        furthest = sorted(holding, key=lambda each: to_nearest_cut(token, each[1], each[2], len(tokens.ids)))
        number, start, _ = furthest[-1]
        np.testing.assert_allclose(states[token], parts[number][token - start], atol=1e-4)


def to_nearest_cut(token: int, start: int, end: int, count: int) -> float:
    """Tokens between this one and the window's nearer cut; the text's ends are no cuts."""
    left = token - start if start else float("inf")
    return min(left, end - 1 - token if end < count else float("inf"))


def test_late_spans_that_cover_a_text_share_its_tokens_out(encoder: FridaEncoder) -> None:
    """Also where a cut falls inside a word, and over all the windows of a long text."""
    for text in (DOCUMENT, LONG):
        (states,) = encoder.token_states([text], PREFIXES["document"])
        rows = own_means(states, list(itertools.pairwise([0, 7, 13, 33, 60, 61, len(text) - 9, len(text)])))
        seen = [end > start for start, end in encoder.tokenizer.tokens(text, PREFIXES["document"]).offsets]
        assert sum(row.tokens for row in rows if row) == sum(seen)


def test_chunk_is_late_without_the_neighbours(encoder: FridaEncoder) -> None:
    chunk, late = (embed(encoder, pooling, *SPANS) for pooling in (Pooling.CHUNK, Pooling.LATE))
    for (start, end), vector in zip(SPANS, chunk.vectors, strict=True):
        piece = DOCUMENT[start:end]
        alone = embed(encoder, Pooling.LATE, (0, len(piece)), text=piece).vectors
        np.testing.assert_allclose(vector, alone[0], atol=2e-6)
    assert ((chunk.vectors * late.vectors).sum(axis=1) < 0.999).all()


def test_cls_vectors_are_those_of_the_slices(encoder: FridaEncoder) -> None:
    reply = embed(encoder, Pooling.CLS, *SPANS)
    slices = encoder.embed([DOCUMENT[a:b] for a, b in SPANS], PREFIXES["document"])
    np.testing.assert_allclose(reply.vectors, slices.vectors, atol=2e-6)
    assert reply.tokens == slices.tokens


def test_a_blend_equals_its_ends_and_lies_between_them(encoder: FridaEncoder) -> None:
    cls, late = (embed(encoder, pooling, *SPANS) for pooling in (Pooling.CLS, Pooling.LATE))
    for alpha, end in ((1.0, cls), (0.0, late)):
        blend = embed(encoder, Pooling.BLEND, *SPANS, alpha=alpha)
        np.testing.assert_allclose(blend.vectors, end.vectors, atol=2e-6)
        assert (blend.tokens, blend.truncated) == (end.tokens, end.truncated)
    mixed = 0.3 * cls.vectors + 0.7 * late.vectors
    expected = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    np.testing.assert_allclose(embed(encoder, Pooling.BLEND, *SPANS, alpha=0.3).vectors, expected, atol=2e-6)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_alpha_outside_0_to_1_is_refused(encoder: FridaEncoder, alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha is"):
        Embedder(encoder, Pooling.BLEND, alpha)


def test_a_text_without_spans_is_the_same_in_every_pooling(encoder: FridaEncoder) -> None:
    """Queries must not depend on how passages were pooled."""
    vectors = [embed(encoder, pooling).vectors for pooling in Pooling]
    assert vectors[0].shape == (1, encoder.dimension)
    for other in vectors[1:]:
        np.testing.assert_allclose(other, vectors[0], atol=2e-6)


def test_a_span_that_holds_no_token_of_its_own_is_embedded_alone(encoder: FridaEncoder) -> None:
    """A cut can leave a span with the inside of one token."""
    word = "пневмоторакс"
    starts = encoder.tokenizer.tokens(word, PREFIXES["document"]).offsets[:, 0]
    inside = next((at, at + 1) for at in range(len(word)) if at not in starts)
    reply = embed(encoder, Pooling.LATE, inside, text=word)
    alone = encoder.embed([word[slice(*inside)]], PREFIXES["document"]).vectors
    np.testing.assert_allclose(reply.vectors, alone, atol=2e-6)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_requests_of_one_call_do_not_influence_each_other(encoder: FridaEncoder, pooling: Pooling) -> None:
    requests = [
        Request("Где искать воздух?", PREFIXES["query"]),
        Request(DOCUMENT, PREFIXES["document"], SPANS),
        Request(LONG, PREFIXES["document"], SPANS[:2]),
        Request("deep sulcus sign", PREFIXES["query"]),
        Request(DOCUMENT, PREFIXES["document"], SPANS),
    ]
    embedder = Embedder(encoder, pooling)
    for request, together in zip(requests, embedder.embed(requests), strict=True):
        (alone,) = embedder.embed([request])
        assert isinstance(together, Reply)
        assert isinstance(alone, Reply)
        np.testing.assert_allclose(together.vectors, alone.vectors, atol=2e-6)
        assert (together.tokens, together.truncated) == (alone.tokens, alone.truncated)


@pytest.mark.parametrize(
    ("text", "spans", "message"),
    [
        ("", (), "TEXT is empty"),
        (" \n\t\u00a0", (), "TEXT is empty"),
        ("слово", ((0, 6),), "SPANS row 0 is not a range"),
        ("два слова", ((3, 4),), "SPANS row 0 holds only blanks"),
    ],
)
def test_a_bad_request_names_the_tensor_and_never_the_text(
    text: str, spans: tuple[tuple[int, int], ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message) as failure:
        Request(text, PREFIXES["query"], spans)
    assert not re.search("слов", str(failure.value))


def test_a_vector_that_is_not_finite_fails_its_request_and_no_other(folder: Path) -> None:
    """One token's embedding is NaN, as an overflow would make it; it stands in the second text only."""
    encoder = FridaEncoder.load(folder, Place("cpu"))
    good, bad = (Request(text, PREFIXES["query"]) for text in (RUSSIAN, "Q8"))
    (poison,) = set(encoder.tokenizer.tokens("Q8", "").ids) & set(encoder.tokenizer.tokens("Q", "").ids)
    assert poison not in encoder.tokenizer.tokens(RUSSIAN, PREFIXES["query"]).ids
    encoder.model.get_input_embeddings().weight.data[poison] = float("nan")
    first, second, third = Embedder(encoder, Pooling.CLS).embed([good, bad, good])
    assert isinstance(second, NotFinite)
    assert "Q8" not in str(second)
    assert isinstance(first, Reply)
    assert isinstance(third, Reply)
    assert np.isfinite(first.vectors).all()


@pytest.mark.parametrize("pooling", [Pooling.CLS, Pooling.BLEND])
def test_a_pass_that_fails_costs_the_row_that_fails_and_no_other(folder: Path, pooling: Pooling) -> None:
    """As when one long row exhausts the device's memory."""
    encoder = FridaEncoder.load(folder, Place("cpu"))
    requests = [
        Request(RUSSIAN, PREFIXES["query"]),
        Request(LONG, PREFIXES["query"]),
        Request(ENGLISH, PREFIXES["query"]),
    ]
    whole = Embedder(encoder, pooling).embed(requests)
    forward = encoder._forward

    def fails(rows: Sequence[Sequence[int]]) -> object:
        if max(map(len, rows)) > 300 or len(rows) > 1:
            raise torch.OutOfMemoryError("out of memory")
        return forward(rows)

    encoder._forward = fails
    first, second, third = Embedder(encoder, pooling).embed(requests)
    assert isinstance(second, NotFinite)
    for found, known in ((first, whole[0]), (third, whole[2])):
        assert isinstance(found, Reply)
        assert isinstance(known, Reply)
        np.testing.assert_allclose(found.vectors, known.vectors, atol=2e-6)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_the_golden_answers_are_right_for_every_pooling(
    encoder: FridaEncoder, folder: Path, pooling: Pooling
) -> None:
    frida_golden.check(Embedder(encoder, pooling), folder / "golden.json", "fp32")


def test_the_golden_check_sees_other_weights(folder: Path) -> None:
    encoder = FridaEncoder.load(folder, Place("cpu"))
    encoder.model.encoder.block[1].layer[0].SelfAttention.v.weight.data *= 1.3
    with pytest.raises(frida_golden.WrongAnswer, match=r"golden case \d: cosine 0\.\d+ is below 0.9999"):
        frida_golden.check(Embedder(encoder, Pooling.CLS), folder / "golden.json", "fp32")


def test_half_precision_is_bf16_and_fp16_is_refused(folder: Path) -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    assert (named_precision("auto", cpu), named_precision("auto", cuda)) == ("fp32", "bf16")
    with pytest.raises(CannotLoad, match="fp16 is refused"):
        named_precision("fp16", cuda)
    rough = FridaEncoder.load(folder, Place("cpu", "bf16"))
    assert rough.model.dtype == torch.bfloat16
    frida_golden.check(Embedder(rough, Pooling.CLS), folder / "golden.json", "bf16")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_demanded_cuda_device_that_is_absent_is_one_line() -> None:
    with pytest.raises(CannotLoad, match=r"^device is cuda, but PyTorch sees no CUDA device$"):
        named_device("cuda")
    assert named_device("auto").type == "cpu"
