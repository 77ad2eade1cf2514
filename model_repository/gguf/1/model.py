"""Triton's side of llama.cpp: the vLLM backend's tensors in and out. The model itself is llama_engine.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import BoundedSemaphore, Thread

import numpy as np
import triton_python_backend_utils as pb_utils
from gguf_request import InvalidRequest, Request, echoes, sampling
from llama_parts import Part
from model_settings import whole
from model_start import parameters, started, weights_folder
from process_guard import ProcessGuard
from triton_talk import Caller, Figures
from weights_manifest import require_pins, verify

FURTHER = ("finish_reason", "num_input_tokens", "num_output_tokens")
# 0 threads are all cores.
LEAST = {"context": 1, "slots": 1, "threads": 0, "batch": 1}
# How often a request that waits for its turn looks whether it was given up, in seconds.
GLANCE = 0.02
# Triton's own words: whoever knows that a queue was full from these knows it of ours too.
FULL = "Exceeds maximum queue size"


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless the file is the manifest's and llama.cpp serves it as configured."""
        started(args, lambda: self.start(args))
        self.figures = Figures(args["model_name"])
        self.guard = ProcessGuard(args["model_name"])

    def start(self, args: Mapping[str, str]) -> None:
        settings = parameters(args)
        folder = weights_folder(settings["weights"])
        manifest = verify(folder)
        require_pins(manifest, settings)
        numbers = {name: whole(settings, name, least) for name, least in LEAST.items()}
        waiting = whole(settings, "queue", 0)
        from llama_engine import Plan, only_model, opened  # noqa: PLC0415 - not before the file is right

        plan = Plan(**numbers, gpu_layers=settings["gpu_layers"])
        self.engine = opened(folder / only_model(manifest), plan)
        self.free, self.stopping = BoundedSemaphore(plan.slots), False
        self.most = plan.slots + waiting
        self.room = BoundedSemaphore(self.most)

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> None:
        """Takes who has room to wait; the others are refused at once."""
        for request in requests:
            caller = Caller(request)
            if self.room.acquire(blocking=False):
                Thread(target=self.serve, args=(request, caller)).start()
            else:
                caller.end(refusal(FULL, pb_utils.TritonError.UNAVAILABLE))

    def serve(self, request: pb_utils.InferenceRequest, caller: Caller) -> None:
        """Waits for a slot and writes one answer, unless it was given up by then."""
        last = refusal("cancelled", pb_utils.TritonError.CANCELLED)
        if self.waited(caller):
            self.figures.change("running", 1)
            last = self.written(request, caller)
            self.figures.change("running", -1)
            self.free.release()
        caller.end(last)
        self.room.release()

    def waited(self, caller: Caller) -> bool:
        """Whether there is a slot now; False when nobody waits for it any more."""
        self.figures.change("waiting", 1)
        while not (has_slot := self.free.acquire(timeout=GLANCE)):
            if self.stopping or caller.gone():
                break
        self.figures.change("waiting", -1)
        return has_slot

    def written(
        self, request: pb_utils.InferenceRequest, caller: Caller
    ) -> pb_utils.InferenceResponse | None:
        """The last response, None when all was sent."""
        try:
            return self.answer(asked(request), caller)
        except InvalidRequest as error:
            return refusal(str(error), pb_utils.TritonError.INVALID_ARG)
        except Exception as error:  # noqa: BLE001 - the caller must get an end, and nothing of his text in it
            pb_utils.Logger.log_error(f"gguf: {type(error).__name__}")
            return refusal("the answer could not be written", pb_utils.TritonError.INTERNAL)

    def answer(self, wanted: Request, caller: Caller) -> pb_utils.InferenceResponse | None:
        """Sends the parts as they come, or returns the whole."""
        parts: list[Part] = []

        def take(part: Part | None) -> bool:
            if self.stopping or caller.gone():
                return True
            if part:
                parts.append(part)
                self.figures.wrote(part.output_tokens)
                if wanted.stream:
                    caller.send(response(wanted, part))
            return False

        self.engine.write(wanted.prompt, wanted.sampling, take)
        if parts:
            self.figures.prompt(parts[0].input_tokens, parts[0].cached)
        if not (parts and parts[-1].reason):
            return refusal("cancelled", pb_utils.TritonError.CANCELLED)
        return None if wanted.stream else response(wanted, joined(wanted, parts))

    def finalize(self) -> None:
        """Ends what is being written: the model's memory goes away under it."""
        self.guard.dismiss()
        self.stopping = True
        for _ in range(self.most):
            self.room.acquire(timeout=5)


def joined(wanted: Request, parts: Sequence[Part]) -> Part:
    text = (wanted.prompt if wanted.echo else "") + "".join(part.text for part in parts)
    tokens = sum(part.output_tokens for part in parts)
    return Part(text, parts[-1].reason, parts[-1].input_tokens, parts[-1].cached, tokens)


def asked(request: pb_utils.InferenceRequest) -> Request:
    stream = flag(request, "stream") is True
    return Request(
        text(request, "text_input"),
        stream,
        echoes(stream, flag(request, "exclude_input_in_output")),
        sampling(text(request, "sampling_parameters")),
        frozenset(name for name in FURTHER if flag(request, f"return_{name}")),
    )


def flag(request: pb_utils.InferenceRequest, name: str) -> bool | None:
    """None where it was not sent."""
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return None if tensor is None else bool(tensor.as_numpy().ravel()[0])


def text(request: pb_utils.InferenceRequest, name: str) -> str:
    """Empty where it was not sent."""
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    try:
        return "" if tensor is None else str(tensor.as_numpy().ravel()[0], "utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{name} is not UTF-8") from None


def response(wanted: Request, part: Part) -> pb_utils.InferenceResponse:
    # As in the vLLM backend, the reason is the word None until the last part.
    further = {
        "finish_reason": np.array([(part.reason or "None").encode()], np.object_),
        "num_input_tokens": np.array([part.input_tokens], np.uint32),
        "num_output_tokens": np.array([part.output_tokens], np.uint32),
    }
    outputs = {"text_output": np.array([part.text.encode()], np.object_)}
    outputs |= {name: values for name, values in further.items() if name in wanted.wanted}
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, values) for name, values in outputs.items()])


def refusal(message: str, code: int) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([], error=pb_utils.TritonError(message, code))
