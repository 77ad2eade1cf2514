"""Triton's side of the reranker: tensors in, tensors out. The model itself is qwen3_reranker.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import triton_python_backend_utils as pb_utils
from model_health import LOST, Health
from model_start import Counter, device_id, parameters, started, weights_folder
from process_guard import ProcessGuard
from qwen3_judgement import Judged, collapsed, score
from weights_manifest import require_pins, verify

FILES = ("config.json", "model.safetensors", "tokenizer.json", "golden.json")


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless every file is the manifest's, the numbers are finite and known answers right."""
        started(args, lambda: self.start(args))
        name = args["model_name"]
        self.truncated = Counter("radrag_model_truncated_rows_total", "Rows cut to the window.", name)
        self.failed = Counter("radrag_model_failed_rows_total", "Rows without a finite result.", name)
        self.collapsed = Counter("radrag_model_collapsed_rerankings_total", "Rerankings of one score.", name)
        self.guard = ProcessGuard(args["model_name"])

    def start(self, args: Mapping[str, str]) -> None:
        settings = parameters(args)
        folder = weights_folder(settings["weights"])
        require_pins(verify(folder, *FILES), settings)
        # PyTorch takes seconds to import: not before the files are right.
        from qwen3_start import started_reranker  # noqa: PLC0415

        self.reranker, timing = started_reranker(folder, settings, device_id(args))
        self.health = Health(args["model_name"])
        pb_utils.Logger.log_info(f"sharing the question: {self.reranker.share}, {timing}")

    def finalize(self) -> None:
        """Ends as it should."""
        self.guard.dismiss()

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> list[pb_utils.InferenceResponse]:
        """Scores the pairs of all waiting requests together; a bad pair is NaN and fails alone."""
        read = [[] if request.is_cancelled() else pairs(request) for request in requests]
        found = self.health.kept(lambda: self.reranker.rerank([pair for each in read for pair in each]))
        if found is None:
            return [refusal(pb_utils.TritonError(LOST, pb_utils.TritonError.UNAVAILABLE)) for _ in requests]
        judged = iter(found)
        return [self.answer(each, [next(judged) for _ in each]) if each else cancelled() for each in read]

    def answer(
        self, pairs: Sequence[tuple[str, str] | None], judged: Sequence[Judged]
    ) -> pb_utils.InferenceResponse:
        scores = np.array([[score(one)] for one in judged], np.float32)
        self.truncated.add(sum(one.truncated for one in judged))
        self.failed.add(int(np.isnan(scores).sum()))
        if collapsed(judged, [pair[1] if pair else "" for pair in pairs]):
            self.collapsed.add(1)
            pb_utils.Logger.log_warn(f"one score for {len(pairs)} passages: the reranker does not rank")
        cut = np.array([[one.truncated] for one in judged], np.bool_)
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("SCORE", scores), pb_utils.Tensor("TRUNCATED", cut)]
        )


def pairs(request: pb_utils.InferenceRequest) -> list[tuple[str, str] | None]:
    """QUERY and PASSAGE, row by row; None for a row that is not UTF-8."""
    columns = [
        pb_utils.get_input_tensor_by_name(request, name).as_numpy().ravel() for name in ("QUERY", "PASSAGE")
    ]
    return [text_pair(query, passage) for query, passage in zip(*columns, strict=True)]


def text_pair(query: bytes, passage: bytes) -> tuple[str, str] | None:
    try:
        return str(query, "utf-8"), str(passage, "utf-8")
    except UnicodeDecodeError:
        return None


def cancelled() -> pb_utils.InferenceResponse:
    return refusal(pb_utils.TritonError("cancelled while queued", pb_utils.TritonError.CANCELLED))


def refusal(error: pb_utils.TritonError) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([], error=error)
