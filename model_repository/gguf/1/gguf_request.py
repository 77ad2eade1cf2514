"""What a request asks of llama.cpp, in the vLLM backend's terms. Knows neither Triton nor llama.cpp."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = "str | float | bool | list[Json] | dict[str, Json] | None"

# vLLM's own default is as short: whoever wants an answer says how long.
MAX_TOKENS = 16
# llama.cpp samples by a dozen rules unless told otherwise; vLLM's defaults are these.
PLAIN: dict[str, Json] = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "n_predict": MAX_TOKENS}


class InvalidRequest(ValueError):
    """The request cannot be answered as it is; the message is written for the caller and holds no text."""


@dataclass(frozen=True)
class Request:
    """stream: part by part. echo: the prompt in front of the answer. sampling: llama.cpp's own fields.

    wanted: the further outputs, of finish_reason, num_input_tokens, num_output_tokens.
    """

    prompt: str
    stream: bool
    echo: bool
    sampling: Mapping[str, Json]
    wanted: frozenset[str]


def echoes(stream: bool, excluded: bool | None) -> bool:
    """Whether the prompt comes back in front of the answer: without streaming, unless excluded."""
    if stream and excluded is False:
        raise InvalidRequest("exclude_input_in_output must not be false when stream is true")
    return not stream if excluded is None else not excluded


def sampling(parameters: str) -> dict[str, Json]:
    """vLLM's sampling parameters, a JSON object, as llama.cpp's fields. Raises InvalidRequest."""
    try:
        given = json.loads(parameters or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise InvalidRequest("sampling_parameters must be a JSON object")
    fields = dict(PLAIN)
    for name, value in given.items():
        if name not in KNOWN:
            raise InvalidRequest("sampling_parameters has an unknown name")
        field, fits, limit = KNOWN[name]
        if not fits(value):
            raise InvalidRequest(f"sampling_parameters.{name} must be {limit}")
        fields[field] = value
    return fields


def _number(least: float, most: float) -> Callable[[Json], bool]:
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
    )


def _whole(least: int, most: int) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _texts(value: Json) -> bool:
    # An empty string would end every answer before it begins.
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


# vLLM's name -> llama.cpp's, what fits, and how that is called.
KNOWN: dict[str, tuple[str, Callable[[Json], bool], str]] = {
    "max_tokens": ("n_predict", _whole(1, 1_000_000), "a whole number of at least 1"),
    "temperature": ("temperature", _number(0, 100), "a number, 0 or more"),
    "top_p": ("top_p", _number(1e-9, 1), "a number above 0, at most 1"),
    "top_k": ("top_k", _whole(-1, 1_000_000), "a whole number; 0 and -1 stand for all"),
    "min_p": ("min_p", _number(0, 1), "a number, 0 to 1"),
    "seed": ("seed", _whole(0, 2**32 - 2), "a whole number, 0 to 4294967294"),
    "stop": ("stop", _texts, "a list of texts, none of them empty"),
    "presence_penalty": ("presence_penalty", _number(-2, 2), "a number, -2 to 2"),
    "frequency_penalty": ("frequency_penalty", _number(-2, 2), "a number, -2 to 2"),
    "repetition_penalty": ("repeat_penalty", _number(1e-9, 2), "a number above 0, at most 2"),
}
