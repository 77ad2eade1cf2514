"""Loads a transformers model from a local folder, strictly: all its weights, finite, on a named device.

Never from a hub, never from a pickle. Knows nothing of what the model is for.
"""

import json
import logging
import os
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

# Before transformers is imported: it must not even ask whether there is a network.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedModel
from transformers.utils import logging as transformers_logging
from weights_manifest import Refused

transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
logging.getLogger("transformers").setLevel(logging.ERROR)

Model = TypeVar("Model", bound=PreTrainedModel)
# T5 overflows in half precision (a NaN vector matches nothing), so it is no choice for any model here.
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


class CannotLoad(Refused):
    """Weights, device or precision that this model cannot run with."""


class Place:
    """A device and a precision, from their names in config.pbtxt."""

    def __init__(self, device: str, precision: str = "auto", gpu: int = 0) -> None:
        self.device = named_device(device, gpu)
        self.precision = named_precision(precision, self.device)

    @property
    def dtype(self) -> torch.dtype:
        return PRECISIONS[self.precision]


def named_device(name: str, gpu: int = 0) -> torch.device:
    """`cuda`, `cpu`, or `auto`: CUDA where there is one. Raises CannotLoad."""
    if name not in ("cuda", "cpu", "auto"):
        raise CannotLoad(f"device is {name!r}, known are cuda, cpu and auto")
    present = name != "cpu" and torch.cuda.is_available()
    if name == "cuda" and not present:
        raise CannotLoad("device is cuda, but PyTorch sees no CUDA device")
    return torch.device("cuda", gpu) if present else torch.device("cpu")


def named_precision(name: str, device: torch.device) -> str:
    """`fp32`, `bf16`, or `auto`: bf16 on CUDA, fp32 on a CPU. Raises CannotLoad, for fp16 too."""
    if name == "auto":
        return "bf16" if device.type == "cuda" else "fp32"
    if name == "fp16":
        raise CannotLoad("precision fp16 is refused: T5 overflows in it; use bf16 or fp32")
    if name not in PRECISIONS:
        raise CannotLoad(f"precision is {name!r}, known are bf16, fp32 and auto")
    return name


def architecture(folder: Path, known: Collection[str]) -> str:
    """Which of `known` the folder's config.json names. Raises CannotLoad."""
    path = folder / "config.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["architectures"]
    except (OSError, ValueError, KeyError, TypeError):
        raise CannotLoad(f"{path} is absent or names no architecture") from None
    names = [str(name) for name in found] if isinstance(found, list) else []
    for name in names:
        if name in known:
            return name
    raise CannotLoad(f"{path} is for {', '.join(names) or 'nothing'}, needed is {' or '.join(sorted(known))}")


def load(kind: type[Model], folder: Path, place: Place) -> Model:
    """The model of that class, ready for inference with scaled dot product attention. Raises CannotLoad."""
    try:
        # Its types do not know that it returns a pair when asked to report.
        loaded: tuple[Model, dict[str, Collection[object]]] = kind.from_pretrained(  # type: ignore[assignment]
            folder,
            local_files_only=True,
            use_safetensors=True,
            dtype=place.dtype,
            attn_implementation="sdpa",
            # So that they are reported by name; they are refused below.
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    # A config.json of other types, of no sense or for another library fails in as many ways as it has fields.
    except Exception as error:
        raise CannotLoad(f"{folder} cannot be loaded: {first_line(error)}") from error
    model, report = loaded
    # transformers fills gaps with random numbers and only warns.
    for what in ("missing_keys", "mismatched_keys", "unexpected_keys"):
        require_none(what, report[what])
    require_finite(model)
    try:
        model.to(place.device).eval().requires_grad_(False)  # type: ignore[arg-type]
    except RuntimeError as error:  # CUDA's out of memory is one
        raise CannotLoad(f"{folder} does not go onto {place.device}: {first_line(error)}") from error
    return model


def require_none(what: str, keys: Collection[object]) -> None:
    named = (str(key[0] if isinstance(key, tuple) else key) for key in keys)
    # A checkpoint of the whole T5 is a good source for its encoder; a head that is missing is a missing head.
    beside = ("decoder.", "lm_head.") if what == "unexpected_keys" else ()
    names = sorted(name for name in named if not name.startswith(beside))
    if names:
        kind = what.removesuffix("_keys")
        raise CannotLoad(f"the weights have {len(names)} {kind} tensors, the first is {names[0]}")


def require_finite(model: PreTrainedModel) -> None:
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise CannotLoad(f"the weights hold a value that is not finite, in {name}")


def require_vocabulary(model: PreTrainedModel, tokenizer: Tokenizer) -> None:
    """A token that the weights do not have ends a process on a GPU, at the first text that holds it."""
    last, known = max(tokenizer.get_vocab().values()), model.get_input_embeddings().weight.shape[0]
    if last >= known:
        raise CannotLoad(f"the tokenizer has token {last}, the weights end with {known - 1}")


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
