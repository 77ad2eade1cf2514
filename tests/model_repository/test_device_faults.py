"""What the GPU models make of a pass that fails, by injected errors: full memory, a bug, a lost device.

Runs where PyTorch is: in the model servers' environment (`make test-torch`).
"""

# ruff: noqa: E402 - what follows needs PyTorch

import logging
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the model servers' environment: `make test-torch`")
torch.set_num_threads(1)

from device_faults import Faults
from failures import DeviceLost, cause, halved
from frida_embedder import Embedder, NotFinite, Pooling, Reply, Request
from frida_encoder import FridaEncoder
from frida_tokens import PREFIXES
from local_model import Place
from qwen3_prompt import Prompts
from qwen3_reranker import Reranker

from tests.model_repository.tiny_bundles import tiny_bundle

SECRET = "доза CANARY"
# As NVIDIA's libraries and PyTorch say them, with what could follow them.
LOST = {
    "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be": (
        "CUDA error: an illegal memory access was encountered"
    ),
    "CUDA error: device-side assert triggered\nCANARY": "CUDA error: device-side assert triggered",
    "CUDA error: uncorrectable ECC error encountered": "CUDA error: uncorrectable ECC error encountered",
    "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( CANARY )`": (
        "CUBLAS_STATUS_EXECUTION_FAILED"
    ),
    "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED CANARY": "CUDNN_STATUS_EXECUTION_FAILED",
}


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001
        return caught


@pytest.mark.parametrize("text", LOST)
def test_a_cause_is_the_class_the_place_and_nvidias_words_and_nothing_else(text: str) -> None:
    told = cause(raised(RuntimeError(text)))
    assert told.startswith("RuntimeError in test_device_faults.py:")
    assert told.endswith(f": {LOST[text]}")
    assert "CANARY" not in told


def test_of_any_other_exception_the_text_is_not_told() -> None:
    assert "CANARY" not in cause(raised(ValueError(f"cannot read {SECRET!r}")))
    assert cause(ValueError(SECRET)) == "ValueError"


def test_what_a_failed_pass_held_is_free_before_the_next_try() -> None:
    """Else a pass that exhausted the memory is repeated in halves with the memory still full."""

    class Held:
        pass

    held: list[weakref.ref[Held]] = []

    def forward(rows: Sequence[int]) -> list[int]:
        assert not [one for one in held if one()], "the failed pass still holds its tensors"
        taken = Held()
        held.append(weakref.ref(taken))
        if len(rows) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return list(rows)

    assert halved(forward, [1, 2, 3, 4], lambda row: -row, Faults(torch.device("cpu")).judge) == [1, 2, 3, 4]
    assert len(held) == 7


def test_memory_that_is_full_is_no_loss_of_the_device(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    faults = Faults(torch.device("cpu"))

    def full(*given: object, **more: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "ones", full)
    faults.judge(raised(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")), 32)
    assert "32 rows failed together: OutOfMemoryError in test_device_faults.py" in caplog.text


def test_a_device_that_computes_no_more_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object, **more: object) -> None:
        raise RuntimeError("CUDA error: unspecified launch failure")

    monkeypatch.setattr(torch, "ones", fails)
    with pytest.raises(DeviceLost, match=r"RuntimeError in .*: CUDA error: unspecified launch failure$"):
        Faults(torch.device("cpu")).judge(raised(RuntimeError("CUDA error: unspecified launch failure")), 1)


def failing(error: Callable[[], Exception], calls: list[int]) -> Callable[..., object]:
    def forward(rows: Sequence[Sequence[int]], *keys: object) -> object:
        calls.append(len(rows))
        raise error()

    return forward


def lost() -> Exception:
    return RuntimeError(f"CUDA error: device-side assert triggered\n{SECRET}")


@pytest.fixture
def encoder() -> FridaEncoder:
    return FridaEncoder.load(tiny_bundle("frida"), Place("cpu"))


@pytest.mark.parametrize("pooling", list(Pooling))
def test_frida_does_not_try_again_on_a_lost_device(
    encoder: FridaEncoder, pooling: Pooling, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(encoder, "_forward", failing(lost, calls))
    monkeypatch.setattr(encoder.faults, "answers", lambda: False)
    requests = [Request(SECRET, PREFIXES["document"], ((0, 4), (5, 9)))] * 8
    with pytest.raises(DeviceLost) as failure:
        halved(Embedder(encoder, pooling).embed, requests, lambda one: NotFinite(""))
    assert len(calls) == 1
    assert "CANARY" not in str(failure.value)


def test_a_bug_costs_its_own_row_and_is_logged_without_the_text(
    encoder: FridaEncoder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the exception: one that nobody foresaw too."""
    forward, tokens = encoder._forward, encoder.tokenizer.tokens
    poison = len(tokens(SECRET * 3, PREFIXES["query"]).ids)

    def fails(rows: Sequence[Sequence[int]]) -> object:
        if max(map(len, rows)) > poison:
            raise IndexError(f"index out of range: {SECRET}")
        return forward(rows)

    monkeypatch.setattr(encoder, "_forward", fails)
    with caplog.at_level(logging.INFO):
        first, second = Embedder(encoder, Pooling.CLS).embed(
            [Request(text, PREFIXES["query"]) for text in ("5", SECRET * 3)]
        )
    assert isinstance(first, Reply)
    assert isinstance(second, NotFinite)
    assert "1 rows failed together: IndexError in test_device_faults.py:" in caplog.text
    assert "CANARY" not in caplog.text


def test_a_text_that_the_tokenizer_fails_on_fails_alone(
    encoder: FridaEncoder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = encoder.tokenizer.tokens

    def fails(text: str, prefix: str) -> object:
        if "CANARY" in text:
            raise ValueError(text)
        return tokens(text, prefix)

    monkeypatch.setattr(encoder.tokenizer, "tokens", fails)
    requests = [Request(text, PREFIXES["query"]) for text in ("5", SECRET, "20")]
    found = halved(Embedder(encoder, Pooling.CLS).embed, requests, lambda one: NotFinite("failed"))
    assert [type(one) for one in found] == [Reply, NotFinite, Reply]
    assert "CANARY" not in caplog.text


@pytest.fixture
def reranker() -> Reranker:
    folder: Path = tiny_bundle("qwen3_reranker")
    return Reranker.load(folder, Place("cpu"), Prompts.load(folder / "tokenizer.json"))


@pytest.mark.parametrize("what", ["_forward", "_keys"])
def test_the_reranker_does_not_try_again_on_a_lost_device(
    reranker: Reranker, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(reranker, what, failing(lost, calls))
    monkeypatch.setattr(reranker.faults, "answers", lambda: False)
    with pytest.raises(DeviceLost) as failure:
        reranker.rerank([(SECRET, f"passage {number}") for number in range(8)])
    assert len(calls) == 1
    assert "CANARY" not in str(failure.value)


def test_a_pair_that_the_tokenizer_fails_on_fails_alone(
    reranker: Reranker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = reranker.prompts.row

    def fails(query: str, document: str) -> object:
        if "CANARY" in document:
            raise KeyError(document)
        return row(query, document)

    monkeypatch.setattr(reranker.prompts, "row", fails)
    found = reranker.rerank([("dose?", "5 mSv"), ("dose?", SECRET)])
    assert [one.margin == one.margin for one in found] == [True, False]
    assert "a pair could not be read: KeyError in test_device_faults.py" in caplog.text
    assert "CANARY" not in caplog.text
