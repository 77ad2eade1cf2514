"""Triton's side of the generator: the vLLM backend's tensors in and out. The model is extractive.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import e5_encoder
import known_answers
import numpy as np
import reader
import triton_python_backend_utils as pb_utils
from answer import pieces
from extractive import Cancelled, Extractive
from generation import Generation, InvalidRequest, echoes, most_tokens
from process_guard import ProcessGuard

FOLDER = Path(__file__).resolve().parent
RERANKER = Path(reader.__file__).resolve().parent
ENCODER = Path(e5_encoder.__file__).resolve().parent


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless every known answer is right."""
        parameters = json.loads(args["model_config"])["parameters"]
        threads, megabytes = (
            int(parameters[name]["string_value"]) for name in ("threads", "recent_megabytes")
        )
        self.model = Extractive.load(FOLDER, RERANKER, ENCODER, threads, megabytes)
        known_answers.check(self.model)
        self.guard = ProcessGuard(args["model_name"])

    def finalize(self) -> None:
        """Ends as it should."""
        self.guard.dismiss()

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> None:
        """Answers each request in its turn. Whatever happens, its stream is ended: else it would leak."""
        for request in requests:
            sender = request.get_response_sender()
            try:
                for response in self.responses(request, sender):
                    sender.send(response)
            finally:
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def responses(
        self, request: pb_utils.InferenceRequest, sender: pb_utils.InferenceResponseSender
    ) -> Iterator[pb_utils.InferenceResponse]:
        try:
            asked = generation(request)
            yield from self.parts(asked, self.model.answer(asked.prompt, sender.is_cancelled), sender)
        except InvalidRequest as error:
            yield refusal(str(error), pb_utils.TritonError.INVALID_ARG)
        except Cancelled:
            yield refusal("cancelled", pb_utils.TritonError.CANCELLED)
        except Exception as error:  # noqa: BLE001 - the caller must get an end, and nothing of his text in it
            pb_utils.Logger.log_error(f"extractive: {type(error).__name__}")
            yield refusal("the answer could not be made", pb_utils.TritonError.INTERNAL)

    def parts(
        self, asked: Generation, answer: str, sender: pb_utils.InferenceResponseSender
    ) -> Iterator[pb_utils.InferenceResponse]:
        """The answer word by word, or whole; cut where max_tokens is reached."""
        words, reason = self.cut(list(pieces(answer)), asked.most_tokens)
        read = self.model.count(asked.prompt) if asked.input_tokens else 0
        if not asked.stream:
            output = (asked.prompt if asked.echo else "") + "".join(word for word, _ in words)
            yield response(asked, output, reason, read, sum(tokens for _, tokens in words))
            return
        for place, (word, tokens) in enumerate(words, 1):
            if sender.is_cancelled():
                raise Cancelled
            # As in the vLLM backend, the reason is the word None until the last part.
            yield response(asked, word, reason if place == len(words) else "None", read, tokens)

    def cut(self, words: Sequence[str], most: int | None) -> tuple[list[tuple[str, int]], str]:
        """The words with their tokens, as many as the limit allows, and why they end: "stop" or "length"."""
        kept: list[tuple[str, int]] = []
        left = most
        for word in words:
            tokens = max(self.model.count(word), 1)
            if left is not None:
                left -= tokens
                if left < 0:
                    return kept or [("", 0)], "length"
            kept.append((word, tokens))
        return kept, "stop"


def generation(request: pb_utils.InferenceRequest) -> Generation:
    stream = flag(request, "stream") is True
    return Generation(
        text(request, "text_input"),
        stream,
        echoes(stream, flag(request, "exclude_input_in_output")),
        most_tokens(text(request, "sampling_parameters")),
        flag(request, "return_finish_reason") is True,
        flag(request, "return_num_input_tokens") is True,
        flag(request, "return_num_output_tokens") is True,
    )


def flag(request: pb_utils.InferenceRequest, name: str) -> bool | None:
    """None where it was not sent."""
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return None if tensor is None else bool(tensor.as_numpy().ravel()[0])


def text(request: pb_utils.InferenceRequest, name: str) -> str:
    """Empty where it was not sent."""
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    if tensor is None:
        return ""
    try:
        return str(tensor.as_numpy().ravel()[0], "utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{name} is not UTF-8") from None


def response(
    asked: Generation, output: str, reason: str, read: int, written: int
) -> pb_utils.InferenceResponse:
    tensors = [pb_utils.Tensor("text_output", np.array([output.encode()], np.object_))]
    if asked.finish_reason:
        tensors.append(pb_utils.Tensor("finish_reason", np.array([reason.encode()], np.object_)))
    if asked.input_tokens:
        tensors.append(pb_utils.Tensor("num_input_tokens", np.array([read], np.uint32)))
    if asked.output_tokens:
        tensors.append(pb_utils.Tensor("num_output_tokens", np.array([written], np.uint32)))
    return pb_utils.InferenceResponse(tensors)


def refusal(message: str, code: int) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([], error=pb_utils.TritonError(message, code))
