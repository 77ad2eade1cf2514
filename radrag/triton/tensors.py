"""Requests and replies of Triton's protocol as bytes: its client's arrays take longer than all else here.

A tensor of strings is each one's length in four bytes, then itself, in UTF-8.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from struct import pack
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tritonclient.grpc import service_pb2 as wire

_TRUE = (
    "stream", "exclude_input_in_output", "return_finish_reason", "return_num_input_tokens",
    "return_num_output_tokens",
)  # fmt: skip

_NUMBERS = {"BOOL": "?", "INT32": "<i4", "INT64": "<i8", "FP16": "<f2", "FP32": "<f4", "FP64": "<f8"}


@dataclass(frozen=True)
class Piece:
    """A piece of generated text. `finish_reason` is empty until the last one: stop, length."""

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int


def embedding(model: str, text: str, task: str, spans: Sequence[tuple[int, int]]) -> Any:
    """Asks for the vectors of one text."""
    request = wire.ModelInferRequest(model_name=model)
    _add(request, "TEXT", "BYTES", (1, 1), _string(text))
    _add(request, "TASK", "BYTES", (1, 1), _string(task))
    _add(request, "SPANS", "INT32", (1, len(spans), 2), pack(f"<{2 * len(spans)}i", *chain(*spans)))
    return request


def reranking(model: str, query: str, passages: Sequence[str]) -> Any:
    """Asks for the scores of pairs, a row each."""
    request, rows = wire.ModelInferRequest(model_name=model), (len(passages), 1)
    _add(request, "QUERY", "BYTES", rows, _string(query) * len(passages))
    _add(request, "PASSAGE", "BYTES", rows, b"".join(map(_string, passages)))
    return request


def generation(model: str, prompt: str, sampling: Mapping[str, object]) -> Any:
    """Asks for an answer, in the vLLM backend's own tensors."""
    request = wire.ModelInferRequest(model_name=model)
    _add(request, "text_input", "BYTES", (1,), _string(prompt))
    _add(request, "sampling_parameters", "BYTES", (1,), _string(json.dumps(dict(sampling))))
    for name in _TRUE:
        _add(request, name, "BOOL", (1,), b"\1")
    return request


def array(reply: Any, name: str) -> NDArray[Any]:
    """One of a reply's tensors of numbers. Raises KeyError or ValueError when there is none."""
    for one, raw in zip(reply.outputs, reply.raw_output_contents, strict=False):
        if one.name == name:
            return np.frombuffer(raw, _NUMBERS[one.datatype]).reshape(tuple(one.shape))
    raise KeyError(name)


def piece(reply: Any) -> Piece:
    """One reply of a stream. Read without numpy, which takes 40 µs for four tensors of one element each."""
    raw = {one.name: said for one, said in zip(reply.outputs, reply.raw_output_contents, strict=False)}
    return Piece(
        _first_text(raw.get("text_output", b"")),
        _reason(_first_text(raw.get("finish_reason", b""))),
        _first_number(raw.get("num_input_tokens", b"")),
        _first_number(raw.get("num_output_tokens", b"")),
    )


def _add(request: Any, name: str, kind: str, shape: Sequence[int], raw: bytes) -> None:
    request.inputs.add(name=name, datatype=kind, shape=shape)
    request.raw_input_contents.append(raw)


def _string(text: str) -> bytes:
    said = text.encode()
    return len(said).to_bytes(4, "little") + said


def _first_text(raw: bytes) -> str:
    """The first element of strings."""
    return raw[4 : 4 + _first_number(raw)].decode(errors="replace")


def _first_number(raw: bytes) -> int:
    """The first element of 32-bit counts; 0 where there is none."""
    return int.from_bytes(raw[:4], "little")


def _reason(text: str) -> str:
    # vLLM says "None" while it is still writing. What an abort or a limit cut is not whole.
    if text in {"", "None", "none"}:
        return ""
    return "stop" if text == "stop" else "length"
