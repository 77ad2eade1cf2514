"""Weights that must not be served: each is refused before the first request, in one line that says why.

Runs where PyTorch is: in the model servers' environment (`make test-torch`).
"""

# ruff: noqa: E402 - what follows needs PyTorch

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the model servers' environment: `make test-torch`")
torch.set_num_threads(1)

from frida_encoder import FridaEncoder
from frida_tokens import WrongTokenizer
from local_model import CannotLoad, Place
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel

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
