"""llama.cpp's running report of one answer, read as parts of a text. Knows nothing of Triton."""

from collections.abc import Mapping
from dataclasses import dataclass

from gguf_request import InvalidRequest, Json


class Failed(RuntimeError):
    """llama.cpp could not go on. It keeps its text to itself: that may quote the prompt."""


@dataclass(frozen=True)
class Part:
    """text and output_tokens: of this part. input_tokens and cached: of the prompt, 0 while it is read.

    reason: "" while writing, then "stop" or "length".
    """

    text: str = ""
    reason: str = ""
    input_tokens: int = 0
    cached: int = 0
    output_tokens: int = 0


class Reader:
    """Reads the reports of one answer in their order; they count tokens from the start, parts their own."""

    def __init__(self) -> None:
        self._written = 0

    def part(self, report: Mapping[str, Json]) -> Part | None:
        """None while the prompt is read. Raises InvalidRequest for a prompt that is too long, Failed."""
        if "error" in report:
            raise _failure(_object(report["error"]))
        choice = _first(report["choices"])
        if "prompt_progress" in report:
            return None
        counts = _object(report["timings"])
        written = _count(counts, "predicted_n")
        part = Part(
            str(choice["text"]),
            str(choice["finish_reason"] or ""),
            _count(counts, "prompt_n") + _count(counts, "cache_n"),
            _count(counts, "cache_n"),
            written - self._written,
        )
        self._written = written
        return part


def _failure(error: Mapping[str, Json]) -> Exception:
    if error.get("type") == "exceed_context_size_error":
        tokens, context = _count(error, "n_prompt_tokens"), _count(error, "n_ctx")
        return InvalidRequest(f"text_input has {tokens} tokens, the context holds {context}")
    return Failed(str(error.get("code", "")))


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _first(value: Json) -> dict[str, Json]:
    return _object(value[0]) if isinstance(value, list) and value else {"text": "", "finish_reason": ""}


def _count(values: Mapping[str, Json], name: str) -> int:
    value = values.get(name)
    return int(value) if isinstance(value, int | float) else 0
