"""The extractive generator as callers meet it: the vLLM backend's contract on a real Triton, over gRPC."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Protocol

import numpy as np
import pytest
import pytest_asyncio
from tritonclient.grpc import aio
from tritonclient.utils import InferenceServerException

from cli.triton_server import TritonServer
from tests.model_repository.test_extractive_answers import LIMITS, SOURCES, prompt

QUESTION = "What is the effective dose limit for workers?"
ANSWER = "According to the sources:\n- “The effective dose limit for workers is 20 mSv per year.” [1]"
SECOND = 1.0
Part = dict[str, np.ndarray]


@pytest_asyncio.fixture
async def client(triton: TritonServer) -> AsyncIterator[aio.InferenceServerClient]:
    async with aio.InferenceServerClient(triton.grpc) as client:
        yield client


def inputs(text: bytes, **others: bool | str) -> list[aio.InferInput]:
    tensors = []
    for name, value in {"text_input": text, **others}.items():
        kind = "BOOL" if isinstance(value, bool) else "BYTES"
        tensors.append(aio.InferInput(name, [1], kind))
        tensors[-1].set_data_from_numpy(np.array([value], np.bool_ if kind == "BOOL" else np.object_))
    return tensors


class Stream(Protocol):
    """What tritonclient returns for a stream."""

    def __aiter__(self) -> AsyncIterator[tuple[aio.InferResult, Exception | None]]: ...

    def cancel(self) -> bool: ...


def started(client: aio.InferenceServerClient, text: bytes, **others: bool | str) -> Stream:
    async def requests() -> AsyncIterator[dict[str, object]]:
        yield {"model_name": "extractive", "inputs": inputs(text, **others)}

    stream: Stream = client.stream_infer(requests())
    return stream


async def parts(client: aio.InferenceServerClient, text: str | bytes, **others: bool | str) -> list[Part]:
    """Every response with outputs, in order. Raises what the model reports."""
    found: list[Part] = []
    async for result, error in started(client, text.encode() if isinstance(text, str) else text, **others):
        if error:
            raise error
        names = [output.name for output in result.get_response().outputs]
        if names:
            found.append({name: result.as_numpy(name) for name in names})
    return found


def said(found: list[Part]) -> str:
    return "".join(part["text_output"][0].decode() for part in found)


async def test_a_stream_is_the_answer_word_by_word(client: aio.InferenceServerClient) -> None:
    found = await parts(client, prompt(QUESTION), stream=True)
    assert said(found).startswith(ANSWER)
    assert len(found) == len(said(found).split())
    assert all(part.keys() == {"text_output"} for part in found)


async def test_without_streaming_the_prompt_comes_in_front_unless_excluded(
    client: aio.InferenceServerClient,
) -> None:
    text = prompt(QUESTION)
    (echoed,) = await parts(client, text)
    (excluded,) = await parts(client, text, exclude_input_in_output=True)
    assert said([echoed]) == text + said([excluded])
    assert said([excluded]).startswith(ANSWER)


async def test_a_stream_that_should_echo_is_an_error(client: aio.InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match="exclude_input_in_output"):
        await parts(client, prompt(QUESTION), stream=True, exclude_input_in_output=False)


async def test_reason_and_token_counts_come_where_they_are_asked_for(
    client: aio.InferenceServerClient,
) -> None:
    wanted = {"return_finish_reason": True, "return_num_input_tokens": True, "return_num_output_tokens": True}
    found = await parts(client, prompt(QUESTION), stream=True, **wanted)
    reasons = [part["finish_reason"][0].decode() for part in found]
    assert reasons == ["None"] * (len(found) - 1) + ["stop"]
    assert {int(part["num_input_tokens"][0]) for part in found} == {int(found[0]["num_input_tokens"][0])}
    assert found[0]["num_input_tokens"][0] > 50
    assert all(part["num_output_tokens"][0] >= 1 for part in found)
    (whole,) = await parts(client, prompt(QUESTION), exclude_input_in_output=True, **wanted)
    assert whole["num_output_tokens"][0] == sum(part["num_output_tokens"][0] for part in found)


async def test_max_tokens_ends_the_answer_with_length(client: aio.InferenceServerClient) -> None:
    sampling = json.dumps({"max_tokens": 6, "temperature": 0.1, "top_p": 0.9})
    found = await parts(
        client, prompt(QUESTION), stream=True, sampling_parameters=sampling, return_finish_reason=True
    )
    assert found[-1]["finish_reason"][0] == b"length"
    assert ANSWER.startswith(said(found))
    assert 0 < len(said(found)) < len(ANSWER)


async def test_what_the_sources_do_not_say_is_refused_in_the_language_of_the_question(
    client: aio.InferenceServerClient,
) -> None:
    found = await parts(client, prompt("Какова толщина хряща надколенника?", "ru"), stream=True)
    assert said(found).startswith("Недостаточно данных")
    assert "[" not in said(found)


@pytest.mark.parametrize(
    "text", ["", "no marks", prompt(QUESTION, sources=()), prompt(QUESTION, sources=(("x", ""),))]
)
async def test_without_sources_there_is_no_answer(client: aio.InferenceServerClient, text: str) -> None:
    assert said(await parts(client, text, stream=True)).startswith("Insufficient evidence")


@pytest.mark.parametrize(
    ("text", "sampling", "message"),
    [
        (b"caf\xe9 secret", "{}", "text_input is not UTF-8"),
        (b"secret", "{", "sampling_parameters"),
        (b"secret", '{"max_tokens": 0}', "max_tokens"),
    ],
)
async def test_a_bad_request_is_an_error_without_its_text(
    client: aio.InferenceServerClient, text: bytes, sampling: str, message: str
) -> None:
    with pytest.raises(InferenceServerException, match=message) as failure:
        await parts(client, text, stream=True, sampling_parameters=sampling)
    assert "secret" not in str(failure.value)


async def test_a_cancelled_stream_stops_within_a_second(client: aio.InferenceServerClient) -> None:
    """While a long prompt is worked on nobody else is answered: the next answer tells when the work ended."""
    filler = "The dose limit of the workers in the archive is written in journal number {}. "
    long = LIMITS + " ".join(filler.format(number) for number in range(400))
    heavy = prompt(QUESTION, sources=(("Limits", long),) * 12).encode()
    quick = prompt("?!")
    stream = started(client, heavy, stream=True)
    reading = asyncio.ensure_future(anext(aiter(stream)))
    await asyncio.sleep(0.3)
    assert not reading.done(), "the work is too short to be cancelled"
    stream.cancel()
    begun = time.monotonic()
    assert said(await parts(client, quick, stream=True)).startswith("Insufficient evidence")
    assert time.monotonic() - begun < SECOND
    with pytest.raises((asyncio.CancelledError, Exception)):
        await reading


async def test_many_streams_at_once_are_all_answered(client: aio.InferenceServerClient) -> None:
    answers = await asyncio.gather(*(parts(client, prompt(QUESTION), stream=True) for _ in range(6)))
    assert len({said(found) for found in answers}) == 1
    assert len(SOURCES) == 2
