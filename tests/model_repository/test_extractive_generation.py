"""What a request may ask of a generator beside its prompt."""

import pytest
from generation import InvalidRequest, echoes, most_tokens


@pytest.mark.parametrize(
    ("stream", "excluded", "echo"),
    [
        (False, None, True),
        (False, False, True),
        (False, True, False),
        (True, None, False),
        (True, True, False),
    ],
)
def test_the_prompt_is_echoed_as_the_vllm_backend_does(
    stream: bool, excluded: bool | None, echo: bool
) -> None:
    assert echoes(stream, excluded) is echo


def test_a_stream_with_an_echo_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="exclude_input_in_output"):
        echoes(True, False)


@pytest.mark.parametrize(
    ("parameters", "most"),
    [
        ("", None),
        ("{}", None),
        ('{"max_tokens": 7}', 7),
        ('{"max_tokens": "7"}', 7),
        ('{"max_tokens": null}', None),
    ],
)
def test_max_tokens_is_read_and_other_parameters_are_not(parameters: str, most: int | None) -> None:
    assert most_tokens(parameters) == most


@pytest.mark.parametrize(
    "parameters", ["{", "[]", "3", '"x"', '{"max_tokens": 0}', '{"max_tokens": 1.5}', '{"max_tokens": true}']
)
def test_malformed_parameters_are_refused(parameters: str) -> None:
    with pytest.raises(InvalidRequest, match="sampling_parameters"):
        most_tokens(parameters)
