"""What a request asks of a generator beside its prompt, in the vLLM backend's terms. Knows nothing of
Triton."""

import json
from typing import NamedTuple


class InvalidRequest(ValueError):
    """The request cannot be answered as it is; the message is written for the caller."""


class Generation(NamedTuple):
    """stream: part by part. echo: the prompt in front of the answer. most_tokens: cut there, None for no
    limit. The rest: which further outputs are wanted."""

    prompt: str
    stream: bool
    echo: bool
    most_tokens: int | None
    finish_reason: bool
    input_tokens: bool
    output_tokens: bool


def echoes(stream: bool, excluded: bool | None) -> bool:
    """Whether the prompt comes back in front of the answer. As the vLLM backend has it: unless told
    otherwise it does without streaming and does not with; InvalidRequest where streaming should echo it."""
    if stream and excluded is False:
        raise InvalidRequest("exclude_input_in_output must not be false when stream is true")
    return not stream if excluded is None else not excluded


def most_tokens(sampling_parameters: str) -> int | None:
    """max_tokens of a JSON object of sampling parameters; the others do not concern a generator that
    quotes."""
    if not sampling_parameters.strip():
        return None
    try:
        most = json.loads(sampling_parameters)["max_tokens"]
    except KeyError:
        return None
    except (ValueError, TypeError):
        raise InvalidRequest("sampling_parameters must be a JSON object") from None
    if most is None:
        return None
    if isinstance(most, bool) or not str(most).isdecimal() or int(most) < 1:
        raise InvalidRequest("sampling_parameters.max_tokens must be a whole number of at least 1")
    return int(most)
