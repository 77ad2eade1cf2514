"""All that is said to Triton while answers are written, by one thread at a time.

Two threads that talk to it at once, one of them about a stream that was just cancelled, make the server fall
(seen on 2.51 with fourteen streams). So nobody but this module sends, asks or counts.
"""

# The stub fills pb_utils in only later: its types exist when annotations are read, not when they are run.
from __future__ import annotations

from threading import Lock

import triton_python_backend_utils as pb_utils
from model_start import Counter

_TURN = Lock()


class Caller:
    """Who waits for an answer."""

    def __init__(self, request: pb_utils.InferenceRequest) -> None:
        self._sender = request.get_response_sender()

    def gone(self) -> bool:
        with _TURN:
            return bool(self._sender.is_cancelled())

    def send(self, response: pb_utils.InferenceResponse) -> None:
        with _TURN:
            self._sender.send(response)

    def end(self, last: pb_utils.InferenceResponse | None) -> None:
        """Ends the stream, as every stream must be ended, else it leaks."""
        final = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
        with _TURN:
            if last is None:
                self._sender.send(flags=final)
            else:
                self._sender.send(last, flags=final)


class Figures:
    """What a model counts, among Triton's own metrics."""

    def __init__(self, model: str) -> None:
        self._read = Counter("radrag_model_prompt_tokens_total", "Tokens of prompts.", model)
        self._cached = Counter("radrag_model_cached_prompt_tokens_total", "Of them, known before.", model)
        self._written = Counter("radrag_model_generated_tokens_total", "Tokens written.", model)
        gauge = pb_utils.MetricFamily.GAUGE
        # Kept: a metric ends with its family.
        self._family = pb_utils.MetricFamily(
            name="radrag_model_generations", description="Answers being written, or waited for.", kind=gauge
        )
        self._states = {
            state: self._family.Metric(labels={"model": model, "state": state})
            for state in ("running", "waiting")
        }

    def prompt(self, tokens: int, cached: int) -> None:
        with _TURN:
            self._read.add(tokens)
            self._cached.add(cached)

    def wrote(self, tokens: int) -> None:
        with _TURN:
            self._written.add(tokens)

    def change(self, state: str, by: int) -> None:
        with _TURN:
            self._states[state].increment(by)
