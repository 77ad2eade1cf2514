"""Weights that must not be served: each is refused before the first request, in one line that says why.

Runs where PyTorch is: in the model servers' environment (`make test-torch`).
"""

# ruff: noqa: E402 - what follows needs PyTorch

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the model servers' environment: `make test-torch`")
torch.set_num_threads(1)

from frida_encoder import FridaEncoder
from frida_start import started_embedder
from frida_tokens import WrongTokenizer
from local_model import CannotLoad, Place
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel
from weights_manifest import Refused

from tests.model_repository.tiny_bundles import tiny_bundle

if TYPE_CHECKING:
    from torch import Tensor

Tensors = dict[str, "Tensor"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_bundle("frida"), tmp_path / "frida"))


def changed(folder: Path, change: Callable[[Tensors], None]) -> None:
    file = folder / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, {"format": "pt"})


def refused(folder: Path) -> str:
    with pytest.raises(CannotLoad) as failure:
        FridaEncoder.load(folder, Place("cpu"))
    (line,) = str(failure.value).splitlines()
    return line


def test_a_missing_tensor_is_named_where_transformers_would_fill_it_with_random_numbers(folder: Path) -> None:
    name = "encoder.block.1.layer.0.SelfAttention.q.weight"
    changed(folder, lambda tensors: tensors.pop(name))
    assert refused(folder) == f"the weights have 1 missing tensors, the first is {name}"


def test_a_tensor_of_another_shape_is_refused(folder: Path) -> None:
    def shorten(tensors: Tensors) -> None:
        name = "encoder.block.1.layer.0.SelfAttention.q.weight"
        tensors[name] = tensors[name][:-1].clone()

    changed(folder, shorten)
    assert "1 mismatched tensors, the first is encoder.block.1.layer.0.SelfAttention.q" in refused(folder)


def test_an_unknown_tensor_is_refused_but_a_decoder_is_not(folder: Path) -> None:
    changed(folder, lambda tensors: tensors.update({"decoder.block.0.x.weight": torch.ones(2)}))
    assert FridaEncoder.load(folder, Place("cpu")).dimension == 48
    changed(folder, lambda tensors: tensors.update({"adapter.weight": torch.ones(2)}))
    assert refused(folder) == "the weights have 1 unexpected tensors, the first is adapter.weight"


def test_one_nan_among_the_weights_is_found_and_named(folder: Path) -> None:
    def poison(tensors: Tensors) -> None:
        tensors["encoder.final_layer_norm.weight"][3] = float("nan")

    changed(folder, poison)
    assert (
        refused(folder) == "the weights hold a value that is not finite, in encoder.final_layer_norm.weight"
    )


def test_a_truncated_file_is_refused_even_when_no_manifest_knew_it(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    assert "cannot be loaded: SafetensorError" in refused(folder)


def test_absent_weights_and_pickles_are_refused(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    assert "cannot be loaded" in refused(folder)


def test_another_architecture_is_named(folder: Path) -> None:
    bert = BertConfig(
        vocab_size=99, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(bert).save_pretrained(folder)
    line = refused(folder)
    assert line.endswith(
        "config.json is for BertModel, needed is T5EncoderModel or T5ForConditionalGeneration"
    )


def test_a_configuration_without_an_architecture_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "t5"}), encoding="utf-8")
    assert refused(folder).endswith("config.json is absent or names no architecture")


def test_a_missing_tokenizer_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(WrongTokenizer, match=r"tokenizer\.json is absent"):
        FridaEncoder.load(folder, Place("cpu"))


def test_unknown_devices_and_precisions_are_refused() -> None:
    with pytest.raises(CannotLoad, match="device is 'tpu', known are cuda, cpu and auto"):
        Place("tpu")
    with pytest.raises(CannotLoad, match="precision is 'int8', known are bf16, fp32 and auto"):
        Place("cpu", "int8")


@pytest.mark.parametrize(
    "change",
    [
        {"num_heads": 0},
        {"num_heads": "four"},
        {"num_layers": 9},
        {"architectures": "T5EncoderModel"},
        {"quantization_config": {"quant_method": "awq"}},
    ],
)
def test_a_configuration_of_no_sense_is_one_line(folder: Path, change: dict[str, object]) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(config | change), encoding="utf-8")
    assert re.search("cannot be loaded|missing tensors|is for nothing", refused(folder))


def test_a_tokenizer_with_more_tokens_than_the_weights_is_refused(folder: Path) -> None:
    """On a GPU the first text with such a token would end the process; on a CPU it would fail its batch."""
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    vocabulary["кость"] = last = max(vocabulary.values()) + 1
    file.write_text(json.dumps(content), encoding="utf-8")
    assert refused(folder) == f"the tokenizer has token {last}, the weights end with {last - 1}"


SETTINGS = {
    "device": "cpu", "precision": "auto", "window": "512", "pass_tokens": "16384", "pooling": "cls",
    "alpha": "0.5", "dimension": "48", "prefix_query": "search_query: ",
    "prefix_document": "search_document: ",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"window": "wide"}, "window is 'wide': it must be a whole number of at least 1"),
        ({"window": "513"}, "window is 513: it must be "),
        ({"window": "100"}, "window is 100: it must be "),
        ({"pass_tokens": "-5"}, "pass_tokens is '-5': it must be"),
        ({"pooling": "max"}, "pooling is 'max', known are cls, chunk, late, blend"),
        ({"alpha": "nan"}, "alpha is 'nan': it must be a number from 0 to 1"),
        ({"dimension": "1536"}, "config.pbtxt says dimension is '1536', the model has '48'"),
    ],
)
def test_a_wrong_setting_is_named(change: dict[str, str], message: str) -> None:
    with pytest.raises(Refused, match=re.escape(message)):
        started_embedder(tiny_bundle("frida"), SETTINGS | change, 0)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"cases": []}', '{"cases": [{"task": "x", "text": "y"}]}']
)
def test_known_answers_that_cannot_be_read_are_refused(folder: Path, text: str) -> None:
    (folder / "golden.json").write_text(text, encoding="utf-8")
    with pytest.raises(Refused, match=r"^golden\.json h(olds no known answers that can be read|as no case)$"):
        started_embedder(folder, SETTINGS, 0)
