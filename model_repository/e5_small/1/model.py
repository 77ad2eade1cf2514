"""Triton's side of the embedder: tensors in, tensors out. The model itself is e5_embedder.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import golden
import numpy as np
import triton_python_backend_utils as pb_utils
from e5_embedder import Embedder, InvalidRequest, Pooling, Reply, Request
from e5_encoder import Encoder
from pinned_files import check_files
from process_guard import ProcessGuard

FOLDER = Path(__file__).parent
PINNED = {
    "model.onnx": "weights_sha256",
    "tokenizer.json": "tokenizer_sha256",
    "limits.json": "limits_sha256",
}


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless every file is the pinned one and every known answer is right."""
        entries = json.loads(args["model_config"])["parameters"]
        parameters = {key: entry["string_value"] for key, entry in entries.items()}
        check_files(FOLDER, {name: parameters[key] for name, key in PINNED.items()})
        self.prefixes = {task: parameters[f"prefix_{task}"] for task in ("query", "document")}
        encoder = Encoder.load(FOLDER, threads=int(parameters["threads"]))
        self.embedder = Embedder(encoder, Pooling(parameters["pooling"]))
        golden.check(self.embedder, FOLDER / "golden.json")
        self.guard = ProcessGuard(args["model_name"])

    def finalize(self) -> None:
        """Ends as it should."""
        self.guard.dismiss()

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> list[pb_utils.InferenceResponse]:
        """Embeds all waiting requests together; a bad one fails alone."""
        read = [self.read(request) for request in requests]
        replies = iter(self.embedder.embed([one for one in read if isinstance(one, Request)]))
        return [answer(next(replies)) if isinstance(one, Request) else refusal(one) for one in read]

    def read(self, request: pb_utils.InferenceRequest) -> Request | pb_utils.TritonError:
        # A request cancelled in the queue still comes here.
        if request.is_cancelled():
            return pb_utils.TritonError("cancelled while queued", pb_utils.TritonError.CANCELLED)
        try:
            return Request(text(request, "TEXT"), self.prefix(text(request, "TASK")), spans(request))
        except InvalidRequest as error:
            return pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)

    def prefix(self, task: str) -> str:
        if task not in self.prefixes:
            raise InvalidRequest(f"TASK is none of {', '.join(self.prefixes)}")
        return str(self.prefixes[task])


def text(request: pb_utils.InferenceRequest, name: str) -> str:
    values = pb_utils.get_input_tensor_by_name(request, name).as_numpy().ravel()
    if len(values) != 1:
        raise InvalidRequest(f"{name} must hold one text per request")
    try:
        return str(values[0], "utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{name} is not UTF-8") from None


def spans(request: pb_utils.InferenceRequest) -> tuple[tuple[int, int], ...]:
    rows = pb_utils.get_input_tensor_by_name(request, "SPANS").as_numpy().reshape(-1, 2)
    return tuple((int(start), int(end)) for start, end in rows)


def answer(reply: Reply) -> pb_utils.InferenceResponse:
    outputs = {
        "EMBEDDINGS": np.ascontiguousarray(reply.vectors[None], np.float32),
        "TOKENS": np.array([reply.tokens], np.int32),
        "TRUNCATED": np.array([[reply.truncated]], np.bool_),
    }
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, values) for name, values in outputs.items()])


def refusal(error: pb_utils.TritonError) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([], error=error)
