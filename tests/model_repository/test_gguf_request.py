"""A request in the vLLM backend's terms becomes llama.cpp's; llama.cpp's reports become parts."""

import json

import pytest
from gguf_request import PLAIN, InvalidRequest, Json, echoes, sampling
from llama_parts import Failed, Part, Reader


def test_sampling_parameters_are_llama_cpps_by_their_own_names() -> None:
    given = {"temperature": 0.1, "top_p": 0.9, "max_tokens": 512, "seed": 7, "stop": ["<|im_end|>"]}
    assert sampling(json.dumps(given | {"repetition_penalty": 1.05})) == PLAIN | {
        "temperature": 0.1,
        "top_p": 0.9,
        "n_predict": 512,
        "seed": 7,
        "stop": ["<|im_end|>"],
        "repeat_penalty": 1.05,
    }


@pytest.mark.parametrize("text", ["", "{}"])
def test_unsaid_parameters_are_vllms_defaults_not_llama_cpps(text: str) -> None:
    assert sampling(text) == {
        "temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "n_predict": 16,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be a JSON object"),
        ("[" * 200_000, "must be a JSON object"),
        ("[]", "must be a JSON object"),
        ('{"secret": 1}', "has an unknown name"),
        ('{"max_tokens": 0}', r"sampling_parameters\.max_tokens must be a whole number"),
        ('{"max_tokens": true}', "max_tokens must be"),
        ('{"max_tokens": "5"}', "max_tokens must be"),
        ('{"temperature": -0.1}', "temperature must be"),
        ('{"temperature": NaN}', "temperature must be"),
        ('{"top_p": 0}', "top_p must be"),
        ('{"seed": -1}', "seed must be"),
        ('{"stop": [""]}', "stop must be"),
        ('{"stop": "secret"}', "stop must be"),
    ],
)
def test_a_bad_parameter_is_named_without_its_value(text: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message) as refusal:
        sampling(text)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("stream", "excluded", "echo"),
    [
        (False, None, True),
        (False, True, False),
        (False, False, True),
        (True, None, False),
        (True, True, False),
    ],
)
def test_the_prompt_comes_in_front_of_what_is_not_streamed_unless_excluded(
    stream: bool, excluded: bool | None, echo: bool
) -> None:
    assert echoes(stream, excluded) is echo


def test_a_stream_that_should_echo_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="exclude_input_in_output"):
        echoes(True, False)


def report(text: str, written: int, reason: str | None = None, **more: Json) -> dict[str, Json]:
    timings: dict[str, Json] = {"prompt_n": 4, "cache_n": 6, "predicted_n": written}
    return {"choices": [{"text": text, "finish_reason": reason}], "timings": timings, **more}


def test_counts_from_the_start_become_each_parts_own() -> None:
    reader = Reader()
    progress: Json = {"total": 10, "processed": 4}
    assert reader.part(report("", 0, prompt_progress=progress)) is None
    assert reader.part(report("a", 1)) == Part("a", "", 10, 6, 1)
    # A letter in two tokens comes with the second.
    assert reader.part(report("ж", 3)) == Part("ж", "", 10, 6, 2)
    assert reader.part(report("", 3, "stop")) == Part("", "stop", 10, 6, 0)


def test_a_prompt_that_does_not_fit_is_the_callers_with_both_numbers() -> None:
    error: Json = {"type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8, "message": "secret"}
    with pytest.raises(InvalidRequest, match="text_input has 9 tokens, the context holds 8"):
        Reader().part({"error": error})


def test_another_failure_keeps_its_text_to_itself() -> None:
    with pytest.raises(Failed) as failure:
        Reader().part({"error": {"code": 500, "message": "secret"}})
    assert "secret" not in str(failure.value)
