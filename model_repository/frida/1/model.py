"""Triton's side of FRIDA: tensors in, tensors out. The model itself is frida_embedder.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import triton_python_backend_utils as pb_utils
from failures import halved
from frida_embedder import InvalidRequest, NotFinite, Reply, Request
from frida_tokens import PREFIXES
from model_health import LOST, Health
from model_start import Counter, device_id, parameters, started, weights_folder
from process_guard import ProcessGuard
from weights_manifest import require_pins, verify

FILES = ("config.json", "model.safetensors", "tokenizer.json", "limits.json", "golden.json")


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless every file is the manifest's, the numbers are finite and known answers right."""
        started(args, lambda: self.start(args))
        name = args["model_name"]
        self.truncated = Counter("radrag_model_truncated_rows_total", "Rows cut to the window.", name)
        self.failed = Counter("radrag_model_failed_rows_total", "Rows without a finite result.", name)
        self.guard = ProcessGuard(args["model_name"])

    def start(self, args: Mapping[str, str]) -> None:
        settings = parameters(args)
        folder = weights_folder(settings["weights"])
        require_pins(verify(folder, *FILES), settings)
        # PyTorch takes seconds to import: not before the files are right.
        from frida_start import started_embedder  # noqa: PLC0415

        self.embedder = started_embedder(folder, settings, device_id(args))
        self.health = Health(args["model_name"])

    def finalize(self) -> None:
        """Ends as it should."""
        self.guard.dismiss()

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> list[pb_utils.InferenceResponse]:
        """Embeds all waiting requests together; a bad one fails alone."""
        read = [self.read(request) for request in requests]
        asked = [one for one in read if isinstance(one, Request)]
        found = self.health.kept(lambda: halved(self.embedder.embed, asked, failed) if asked else [])
        if found is None:
            return [refusal(pb_utils.TritonError(LOST, pb_utils.TritonError.UNAVAILABLE)) for _ in requests]
        replies = iter(found)
        return [self.answer(next(replies)) if isinstance(one, Request) else refusal(one) for one in read]

    def read(self, request: pb_utils.InferenceRequest) -> Request | pb_utils.TritonError:
        # A request cancelled in the queue still comes here.
        if request.is_cancelled():
            return pb_utils.TritonError("cancelled while queued", pb_utils.TritonError.CANCELLED)
        try:
            return Request(text(request, "TEXT"), prefix(text(request, "TASK")), spans(request))
        except InvalidRequest as error:
            return pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)

    def answer(self, reply: Reply | NotFinite) -> pb_utils.InferenceResponse:
        if isinstance(reply, NotFinite):
            self.failed.add(1)
            return refusal(pb_utils.TritonError(str(reply), pb_utils.TritonError.INTERNAL))
        self.truncated.add(reply.truncated)
        outputs = {
            "EMBEDDINGS": np.ascontiguousarray(reply.vectors[None], np.float32),
            "TOKENS": np.array([reply.tokens], np.int32),
            "TRUNCATED": np.array([[reply.truncated > 0]], np.bool_),
        }
        return pb_utils.InferenceResponse([pb_utils.Tensor(name, values) for name, values in outputs.items()])


def failed(request: Request) -> NotFinite:
    return NotFinite("the text could not be embedded")


def prefix(task: str) -> str:
    if task not in PREFIXES:
        raise InvalidRequest(f"TASK is none of {', '.join(PREFIXES)}")
    return PREFIXES[task]


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


def refusal(error: pb_utils.TritonError) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([], error=error)
