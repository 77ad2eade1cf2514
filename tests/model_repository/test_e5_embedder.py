"""Spans and poolings, against a late chunking written out by hand."""

import hashlib
import itertools
import json
import re
from pathlib import Path

import golden
import numpy as np
import onnxruntime as ort
import pytest
from e5_embedder import MAXIMUM_CHARACTERS, MAXIMUM_SPANS, Embedder, InvalidRequest, Pooling, Reply, Request
from e5_encoder import Encoder, Floats
from pinned_files import WrongFile, check_files
from tokenizers import Tokenizer

from tests.model_repository.conftest import E5, FILES

DOCUMENT = (
    "## Пневмоторакс 🩻\n\nНа снимке лёжа воздух собирается спереди. Look for the deep sulcus sign.\n\n"
    "Повторите снимок стоя 👩‍⚕️; при сомнении — КТ. The lung edge must be traced."
)
SENTENCES = ((0, 19), (19, 58), (58, 91), (91, 128), (128, len(DOCUMENT)))


def embed(encoder: Encoder, pooling: Pooling, text: str, *spans: tuple[int, int]) -> Reply:
    (reply,) = Embedder(encoder, pooling).embed([Request(text, "passage: ", spans)])
    return reply


def late_by_hand(text: str, spans: tuple[tuple[int, int], ...]) -> Floats:
    """The definition, step by step: encode the parent once, walk its tokens, average those of each span.

    Reads the graph and the vocabulary itself and shares no code with the embedder. A token belongs to the
    span that holds its first character that is not a blank.
    """
    tokenizer = Tokenizer.from_file(str(FILES / "tokenizer.json"))
    graph = ort.InferenceSession(str(FILES / "model.onnx"), providers=["CPUExecutionProvider"])
    whole = "passage: " + text
    encoding = tokenizer.encode(whole)
    ids = np.array([encoding.ids], np.int64)
    states = graph.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
    sums = {span: np.zeros(states.shape[1]) for span in spans}
    counts = dict.fromkeys(spans, 0)
    for state, (start, end), special in zip(
        states, encoding.offsets, encoding.special_tokens_mask, strict=True
    ):
        visible = [at for at in range(start, end) if not whole[at].isspace()]
        if special or not visible:
            continue
        for span in spans:
            if span[0] <= visible[0] - len("passage: ") < span[1]:
                sums[span] += state
                counts[span] += 1
    means = np.array([sums[span] / counts[span] for span in spans])
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)


def test_late_vectors_are_the_means_of_their_own_tokens_of_the_parents_pass(encoder: Encoder) -> None:
    reply = embed(encoder, Pooling.LATE, DOCUMENT, *SENTENCES)
    np.testing.assert_allclose(reply.vectors, late_by_hand(DOCUMENT, SENTENCES), atol=1e-4)


def test_late_spans_that_cover_a_text_share_its_tokens_out(encoder: Encoder) -> None:
    """Also where a cut falls inside a word: its token goes to one side only."""
    cuts = [0, 7, 19, 33, 60, 61, 92, len(DOCUMENT)]
    spans = [span for span in itertools.pairwise(cuts) if DOCUMENT[slice(*span)].strip()]
    reply = embed(encoder, Pooling.LATE, DOCUMENT, *spans)
    visible = [end > start for start, end in encoder.tokens(DOCUMENT, "passage: ").offsets]
    assert sum(reply.tokens) == sum(visible)


def test_a_late_vector_has_seen_its_neighbours_and_a_chunk_vector_has_not(encoder: Encoder) -> None:
    other = DOCUMENT[:58] + "Metal implants cause artefacts." + DOCUMENT[89:]
    span = SENTENCES[1]
    for pooling, sees in ((Pooling.LATE, True), (Pooling.CHUNK, False)):
        one, two = (embed(encoder, pooling, text, span).vectors for text in (DOCUMENT, other))
        assert bool(np.abs(one - two).max() > 1e-3) is sees


def test_late_vectors_of_a_long_text_come_from_all_its_windows(encoder: Encoder) -> None:
    """Whatever the windows, a span in the middle of the first is what the first alone would give."""
    text = " ".join([DOCUMENT] * 20)
    spans = tuple((at, at + len(DOCUMENT)) for at in range(0, len(text), len(DOCUMENT) + 1))
    reply = embed(encoder, Pooling.LATE, text, *spans)
    assert sum(reply.tokens) > 512
    assert not reply.truncated
    assert reply.vectors.shape == (20, 384)
    assert len({vector.tobytes() for vector in reply.vectors}) == 20
    assert (reply.vectors @ reply.vectors[0] > 0.9).all()


def test_chunk_vectors_are_those_of_the_slices(encoder: Encoder) -> None:
    reply = embed(encoder, Pooling.CHUNK, DOCUMENT, *SENTENCES)
    slices = encoder.embed([DOCUMENT[a:b] for a, b in SENTENCES], "passage: ")
    np.testing.assert_allclose(reply.vectors, slices.vectors, atol=2e-6)
    assert reply.tokens == slices.tokens


def test_a_blend_is_half_of_each(encoder: Encoder) -> None:
    chunk, late, blend = (
        embed(encoder, pooling, DOCUMENT, *SENTENCES).vectors
        for pooling in (Pooling.CHUNK, Pooling.LATE, Pooling.BLEND)
    )
    total = chunk + late
    np.testing.assert_allclose(blend, total / np.linalg.norm(total, axis=1, keepdims=True), atol=1e-5)


def test_a_text_without_spans_is_the_same_in_every_pooling(encoder: Encoder) -> None:
    """Queries must not depend on how passages were pooled."""
    vectors = [embed(encoder, pooling, DOCUMENT).vectors for pooling in Pooling]
    assert vectors[0].shape == (1, 384)
    for other in vectors[1:]:
        np.testing.assert_allclose(other, vectors[0], atol=1e-6)


def test_a_span_that_holds_no_token_of_its_own_is_embedded_alone(encoder: Encoder) -> None:
    """A cut can leave a span with the inside of one token."""
    starts = encoder.tokens("рентгенография", "passage: ").offsets[:, 0]
    inside = next((at, at + 1) for at in range(14) if at not in starts)
    reply = embed(encoder, Pooling.LATE, "рентгенография", inside)
    alone = encoder.embed(["рентгенография"[slice(*inside)]], "passage: ").vectors
    np.testing.assert_allclose(reply.vectors, alone, atol=1e-6)


def test_requests_of_one_call_do_not_influence_each_other(encoder: Encoder) -> None:
    """Queries and documents, with and without spans, two of them equal."""
    requests = [
        Request("Где искать воздух?", "query: "),
        Request(DOCUMENT, "passage: ", SENTENCES),
        Request(DOCUMENT, "passage: ", SENTENCES[:2]),
        Request("deep sulcus sign", "query: "),
        Request(DOCUMENT, "passage: ", SENTENCES),
    ]
    for pooling in Pooling:
        embedder = Embedder(encoder, pooling)
        for request, together in zip(requests, embedder.embed(requests), strict=True):
            (alone,) = embedder.embed([request])
            np.testing.assert_allclose(together.vectors, alone.vectors, atol=2e-6)
            assert (together.tokens, together.truncated) == (alone.tokens, alone.truncated)


@pytest.mark.parametrize(
    ("text", "spans", "message"),
    [
        ("", (), "TEXT is empty"),
        (" \n\t\u00a0", (), "TEXT is empty"),
        ("я" * (MAXIMUM_CHARACTERS + 1), (), "TEXT is longer"),
        ("слово", ((0, 6),), "SPANS row 0 is not a range"),
        ("слово", ((0, 5), (3, 3)), "SPANS row 1 is not a range"),
        ("слово", ((4, 2),), "SPANS row 0 is not a range"),
        ("слово", ((-1, 2),), "SPANS row 0 is not a range"),
        ("два слова", ((3, 4),), "SPANS row 0 holds only blanks"),
        ("слово", ((0, 5),) * (MAXIMUM_SPANS + 1), "SPANS has more"),
    ],
)
def test_a_bad_request_names_the_tensor_and_never_the_text(
    text: str, spans: tuple[tuple[int, int], ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message) as failure:
        Request(text, "query: ", spans)
    assert not re.search("слов|яяя", str(failure.value))


@pytest.mark.parametrize("pooling", list(Pooling))
def test_the_golden_answers_are_right_for_every_pooling(encoder: Encoder, pooling: Pooling) -> None:
    golden.check(Embedder(encoder, pooling), FILES / "golden.json")


def test_the_golden_check_refuses_other_prefixes_windows_or_poolings(
    encoder: Encoder, tmp_path: Path
) -> None:
    """The answers of one pooling are wrong for another."""
    known = json.loads((FILES / "golden.json").read_text(encoding="utf-8"))
    swapped = tmp_path / "golden.json"
    swapped.write_text(json.dumps({"chunk": known["late"]}), encoding="utf-8")
    with pytest.raises(golden.WrongAnswer, match="golden case 2: cosine 0"):
        golden.check(Embedder(encoder, Pooling.CHUNK), swapped)


def test_a_file_with_another_hash_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"other weights")
    right = hashlib.sha256(b"other weights").hexdigest()
    check_files(tmp_path, {"model.onnx": right})
    with pytest.raises(WrongFile, match=r"model\.onnx has sha256"):
        check_files(tmp_path, {"model.onnx": "0" * 64})
    with pytest.raises(WrongFile, match=r"tokenizer\.json is absent"):
        check_files(tmp_path, {"tokenizer.json": right})


def test_the_three_models_differ_in_name_and_pooling_only() -> None:
    configs = [config(name) for name in ("e5_small", "e5_small_late", "e5_small_blend")]
    assert len({pooling for _, pooling in configs}) == 3
    assert len({rest for rest, _ in configs}) == 1


def config(name: str) -> tuple[str, str]:
    """A configuration without its comments, its name and its pooling; and the pooling."""
    text = (E5.parent / name / "config.pbtxt").read_text(encoding="utf-8")
    text = re.sub(r"#.*", "", text).replace(f'name: "{name}"', "").strip()
    pooling = re.search(r'key: "pooling"\s+value: \{ string_value: "(\w+)" \}', text)
    assert pooling
    return text.replace(pooling[0], ""), pooling[1]
