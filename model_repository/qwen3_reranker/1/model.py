"""Triton's side of the reranker: tensors in, tensors out. The model itself is qwen3_reranker.py."""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np
import triton_python_backend_utils as pb_utils
from local_model import CannotLoad, Place
from model_start import Counter, device_id, parameters, started, weights_folder
from qwen3_golden import Golden, WrongAnswer, check, score
from qwen3_prompt import Prompts, WrongTokenizer
from qwen3_reranker import Judged, Reranker, collapsed
from weights_manifest import WrongBundle, require_pins, verify

FILES = ("config.json", "model.safetensors", "tokenizer.json", "golden.json")
REFUSALS = (WrongBundle, CannotLoad, WrongTokenizer, WrongAnswer)
SHARE = ("measured", "always", "never")
# What the ways to share the question are measured on: as many passages as a reranking has, of some length.
PASSAGES, REPEATS = 16, 12


class TritonPythonModel:
    def initialize(self, args: Mapping[str, str]) -> None:
        """Not READY unless every file is the manifest's, the numbers are finite and known answers right."""
        started(args, lambda: self.start(args), REFUSALS)
        name = args["model_name"]
        self.truncated = Counter("radrag_model_truncated_rows_total", "Rows cut to the window.", name)
        self.failed = Counter("radrag_model_failed_rows_total", "Rows without a finite result.", name)
        self.collapsed = Counter("radrag_model_collapsed_rerankings_total", "Rerankings of one score.", name)

    def start(self, args: Mapping[str, str]) -> None:
        settings = parameters(args)
        place = Place(settings["device"], settings["precision"], device_id(args))
        folder = weights_folder(settings["weights"])
        require_pins(verify(folder, *FILES), settings)
        golden = Golden.read(folder / "golden.json")
        prompts = Prompts.load(folder / "tokenizer.json", settings["instruction"], int(settings["context"]))
        self.reranker = Reranker.load(folder, place, prompts, one_logit=settings["readout"] == "one_logit")
        self.reranker.budget = int(settings["pass_tokens"])
        check(self.reranker, golden, place.precision)
        self.choose_sharing(settings["share_question"], golden)

    def choose_sharing(self, wish: str, golden: Golden) -> None:
        if wish not in SHARE:
            raise CannotLoad(f"share_question is {wish!r}, known are {', '.join(SHARE)}")
        self.reranker.share = wish != "never"
        if wish == "measured":
            query, passage = golden.pairs[0]
            rows = [self.reranker.prompts.row(query, " ".join([passage] * REPEATS))] * PASSAGES
            timing = self.reranker.measure(rows)
            line = f"{PASSAGES} passages: {timing.shared:.3f} s with the question shared, {timing.whole:.3f} s without"
            pb_utils.Logger.log_info(line)

    def execute(self, requests: Sequence[pb_utils.InferenceRequest]) -> list[pb_utils.InferenceResponse]:
        """Scores the pairs of all waiting requests together; a bad pair is NaN and fails alone."""
        read = [[] if request.is_cancelled() else pairs(request) for request in requests]
        judged = iter(self.reranker.rerank([pair for each in read for pair in each]))
        return [self.answer(each, [next(judged) for _ in each]) if each else cancelled() for each in read]

    def answer(
        self, pairs: Sequence[tuple[str, str] | None], judged: Sequence[Judged]
    ) -> pb_utils.InferenceResponse:
        scores = np.array([[score(one)] for one in judged], np.float32)
        self.truncated.add(sum(one.truncated for one in judged))
        self.failed.add(sum(isnan(one.margin) for one in judged))
        if collapsed(judged, [pair[1] if pair else "" for pair in pairs]):
            self.collapsed.add(1)
            pb_utils.Logger.log_warn(f"one score for {len(pairs)} passages: the reranker does not rank")
        cut = np.array([[one.truncated] for one in judged], np.bool_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("SCORE", scores), pb_utils.Tensor("TRUNCATED", cut)])


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
    error = pb_utils.TritonError("cancelled while queued", pb_utils.TritonError.CANCELLED)
    return pb_utils.InferenceResponse([], error=error)
