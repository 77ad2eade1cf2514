"""Triton's side of the reranker: rows in, scores out. The model itself is late_interaction.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import e5_encoder
import known_scores
import numpy as np
import triton_python_backend_utils as pb_utils
from late_interaction import LateInteraction, Scored
from process_guard import ProcessGuard

FOLDER = Path(__file__).resolve().parent
ENCODER = Path(e5_encoder.__file__).resolve().parent

Rows = list[tuple[str, str]]


class InvalidRequest(ValueError):
    """The request cannot be answered as it is; the message is written for the caller."""


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless every known answer is right."""
        parameters = json.loads(args["model_config"])["parameters"]
        threads, megabytes = (
            int(parameters[name]["string_value"]) for name in ("threads", "recent_megabytes")
        )
        self.model = LateInteraction.load(FOLDER, ENCODER, threads, megabytes)
        known_scores.check(self.model, FOLDER / "known_scores.json")
        self.guard = ProcessGuard(args["model_name"])

    def finalize(self) -> None:
        """Ends as it should."""
        self.guard.dismiss()

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> list[pb_utils.InferenceResponse]:
        """Scores the rows of all waiting requests in one pass; a bad request fails alone."""
        read = [rows_or_error(request) for request in requests]
        scored = iter(self.model.score([row for rows in read if isinstance(rows, list) for row in rows]))
        return [answer(rows, scored) if isinstance(rows, list) else refusal(rows) for rows in read]


def rows_or_error(request: pb_utils.InferenceRequest) -> Rows | pb_utils.TritonError:
    # A request cancelled in the queue still comes here.
    if request.is_cancelled():
        return pb_utils.TritonError("cancelled while queued", pb_utils.TritonError.CANCELLED)
    try:
        return list(zip(texts(request, "QUERY"), texts(request, "PASSAGE"), strict=True))
    except InvalidRequest as error:
        return pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)


def texts(request: pb_utils.InferenceRequest, name: str) -> list[str]:
    values = pb_utils.get_input_tensor_by_name(request, name).as_numpy().ravel()
    try:
        read = [str(value, "utf-8") for value in values]
    except UnicodeDecodeError:
        raise InvalidRequest(f"{name} is not UTF-8") from None
    if not all(text.strip() for text in read):
        raise InvalidRequest(f"{name} must not be empty")
    return read


def answer(rows: Rows, scored: Iterator[Scored]) -> pb_utils.InferenceResponse:
    own = [next(scored) for _ in rows]
    scores = np.array([[one.score] for one in own], np.float32)
    truncated = np.array([[one.truncated] for one in own], np.bool_)
    return pb_utils.InferenceResponse(
        [pb_utils.Tensor("SCORE", scores), pb_utils.Tensor("TRUNCATED", truncated)]
    )


def refusal(error: pb_utils.TritonError) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([], error=error)
