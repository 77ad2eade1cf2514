"""One contract, four generators: the vLLM backend's stand-in, llama.cpp, the extractive one, OpenAI's API.

What the gateway gets from its generator must be the same whichever is behind it.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import pytest_asyncio
from tritonclient.grpc import aio
from tritonclient.utils import InferenceServerException

from cli.process import Child
from cli.triton_server import TritonServer
from gateway.models import Generator
from gateway.openai_generator import OpenAIGenerator
from gateway.templates import MESSAGES, TEMPLATES, Template
from radrag import call
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import DeadlineExceeded, ModelUnavailable
from radrag.triton import ModelServer, Piece
from tests.conftest import complete, ran
from tests.gateway.openai_stand import DONE, HEAD, Stand, chunk, event, standing
from tests.integration.conftest import MODELS, Stack, environ, gateway
from tests.integration.generators import add_gguf, gemma
from tests.integration.metrics import total
from tests.ports import free_grpc_port

log = logging.getLogger(__name__)

SENTENCE = "The annual dose limit for workers is 20 mSv, «доза» для персонала — 20 мЗв 🩻."
USER = (
    '<source number="1" title="Limits" section="" document="d" version="v" date="2024-05-01"'
    f' category="regulatory" tier="1" language="en">\n{SENTENCE}\n</source>\n\n'
    '<question language="en">\nWhat is the annual dose limit for workers?\n</question>'
)
SAMPLING: dict[str, object] = {"temperature": 0.1, "top_p": 0.9, "seed": 5}
KINDS = ("vllm_like", "gguf", "extractive", "openai")
# Those that write until they are told to stop, and can be seen doing it.
SLOW = ("vllm_like", "gguf", "openai")
Either: TypeAlias = "Generator | OpenAIGenerator"


@dataclass(frozen=True)
class Subject:
    """A generator under test, and how its prompt is rendered."""

    generator: Either
    template: Template

    @property
    def prompt(self) -> str:
        return self.template.render("Answer from the sources only.", USER)

    def write(self, max_tokens: int = 40) -> AsyncGenerator[Piece, None]:
        return self.generator.generate(self.prompt, max_tokens)

    async def pieces(self, max_tokens: int = 40) -> list[Piece]:
        async with aclosing(self.write(max_tokens)) as found:
            return [piece async for piece in found]


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TritonServer]:
    home = tmp_path_factory.mktemp("vllm")
    yield from served(TritonServer(Child("vllm", home), ("vllm_like",), free_grpc_port(), repository=MODELS))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TritonServer]:
    home = tmp_path_factory.mktemp("llama")
    add_gguf(home / "models", "gguf", gemma(), context="12288")
    yield from served(
        TritonServer(Child("llama", home), ("gguf",), free_grpc_port(), repository=home / "models")
    )


def served(server: TritonServer) -> Iterator[TritonServer]:
    ran(server.start())
    yield server
    ran(server.stop())


@pytest.fixture
def server_of(kind: str, request: pytest.FixtureRequest) -> TritonServer | None:
    """The Triton behind a kind; None where it is another server."""
    if kind == "extractive" and not complete("extractive"):
        pytest.skip("the extractive generator is not there yet: model_repository/extractive/1/model.py")
    names = {"vllm_like": "stand_in", "gguf": "llama", "extractive": "triton"}
    return request.getfixturevalue(names[kind]) if kind in names else None


@pytest_asyncio.fixture
async def subject(kind: str, server_of: TritonServer | None) -> AsyncIterator[Subject]:
    if server_of is None:
        async with standing(quoting, **SAMPLING) as (_, generator):
            yield Subject(generator, MESSAGES)
        return
    models = ModelServer(server_of.grpc, "generator")
    template = TEMPLATES["gemma" if kind == "gguf" else "plain"]
    yield Subject(Generator(models, kind, SAMPLING | {"stop": list(template.stop)}), template)
    await models.close()


async def quoting(stand: Stand, writer: asyncio.StreamWriter) -> None:
    """Quotes the first source's longest line over and over, a word every 10 ms, as `vllm_like` does."""
    asked = json.loads(json.dumps(stand.asked[-1]))
    found = re.search(r'<source number="1".*?>\n(.*?)\n</source>', asked["messages"][1]["content"], re.DOTALL)
    line = max(found[1].splitlines(), key=len) if found else "nothing"
    words = re.findall(r"\S+\s*", f"According to the sources:\n- “{line}” [1]\n")
    kept = words[: asked["max_tokens"]]
    writer.write(HEAD)
    for word in kept:
        writer.write(chunk(event(word)))
        await writer.drain()
        await asyncio.sleep(0.01)
    usage = {"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": len(kept)}}
    reason = "stop" if len(kept) < asked["max_tokens"] else "length"
    writer.write(chunk(event("", reason)) + chunk(b"data: " + json.dumps(usage).encode() + b"\n\n"))
    writer.write(chunk(DONE) + chunk(b""))
    await writer.drain()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_comes_in_pieces_with_one_reason_at_the_end(subject: Subject) -> None:
    pieces = await subject.pieces()
    assert len([piece for piece in pieces if piece.text]) > 3
    assert {piece.finish_reason for piece in pieces[:-1]} == {""}
    assert pieces[-1].finish_reason in {"stop", "length"}


@pytest.mark.parametrize("kind", KINDS)
async def test_pieces_are_deltas_and_the_prompt_is_not_among_them(subject: Subject) -> None:
    pieces = [piece.text for piece in await subject.pieces() if piece.text]
    assert USER not in "".join(pieces)
    assert not all(later.startswith(earlier) for earlier, later in pairwise(pieces))
    assert "�" not in "".join(pieces)


@pytest.mark.parametrize("kind", ["vllm_like", "extractive", "openai"])
async def test_those_that_quote_quote_cyrillic_and_emoji_unbroken(subject: Subject) -> None:
    assert SENTENCE.rstrip(".") in "".join([piece.text for piece in await subject.pieces(60)])


@pytest.mark.parametrize("kind", KINDS)
async def test_tokens_are_counted_on_both_sides(subject: Subject) -> None:
    pieces = await subject.pieces()
    assert max(piece.input_tokens for piece in pieces) > 20
    written = sum(piece.output_tokens for piece in pieces)
    assert len("".join(piece.text for piece in pieces).split()) / 3 < written <= 40


@pytest.mark.parametrize("kind", KINDS)
async def test_max_tokens_ends_an_answer_with_length(subject: Subject) -> None:
    pieces = await subject.pieces(5)
    assert pieces[-1].finish_reason == "length"
    assert 0 < sum(piece.output_tokens for piece in pieces) <= 5


@pytest.mark.parametrize("kind", KINDS)
async def test_the_same_seed_writes_the_same(subject: Subject) -> None:
    one, other = [[piece.text for piece in await subject.pieces(12)] for _ in range(2)]
    assert "".join(one) == "".join(other)


@pytest.mark.parametrize("kind", KINDS)
async def test_it_says_whether_it_is_ready(subject: Subject) -> None:
    assert await subject.generator.ready()


@pytest.mark.parametrize("kind", SLOW)
async def test_leaving_early_leaves_it_free_for_the_next(subject: Subject) -> None:
    async with aclosing(subject.write(300)) as found:
        assert await anext(found)
    began = time.monotonic()
    assert await subject.pieces(2)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("kind", SLOW)
async def test_the_callers_deadline_ends_it(subject: Subject) -> None:
    await subject.pieces(1)  # the prompt is known then
    soon = replace(call.current(), deadline=time.monotonic() + 0.6)

    async def write_on() -> None:
        while True:
            await subject.pieces(1000)

    with call.running(soon), pytest.raises(DeadlineExceeded):
        await write_on()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_deadline_that_passed_starts_nothing(subject: Subject) -> None:
    with call.running(replace(call.current(), deadline=0.0)), pytest.raises(DeadlineExceeded):
        await subject.pieces()


async def test_of_the_stand_in_that_is_left_the_cancel_arrives(stand_in: TritonServer) -> None:
    before = await total(stand_in.metrics, "vllm_like", state="cancelled")
    models = ModelServer(stand_in.grpc, "generator")
    async with aclosing(Generator(models, "vllm_like", SAMPLING).generate(USER, 2000)) as found:
        await anext(found)
    left = time.monotonic()
    while await total(stand_in.metrics, "vllm_like", state="running"):
        assert time.monotonic() - left < 0.5
        await asyncio.sleep(0.01)
    assert await total(stand_in.metrics, "vllm_like", state="cancelled") == before + 1
    await models.close()


async def test_an_error_as_text_in_the_stream_is_a_missing_model_without_that_text(
    stand_in: TritonServer,
) -> None:
    """The backend says such things with code INTERNAL and quotes what it likes."""
    models = ModelServer(stand_in.grpc, "generator")
    generator = Generator(models, "vllm_like", SAMPLING)
    with pytest.raises(ModelUnavailable) as failure:
        _ = [piece async for piece in generator.generate("CANARY " * 20_001, 5)]
    assert str(failure.value) == "the generator does not answer"
    assert await generator.ready()
    await models.close()


async def test_a_triton_that_is_gone_is_a_missing_model() -> None:
    """Of OpenAI's API the same is shown in tests/gateway."""
    models = ModelServer(f"127.0.0.1:{free_grpc_port()}", "generator")
    generator = Generator(models, "any", SAMPLING)
    assert not await generator.ready()
    with pytest.raises(ModelUnavailable):
        _ = [piece async for piece in generator.generate(USER, 5)]
    await models.close()


async def parts(server: TritonServer, **given: bytes | bool) -> list[dict[str, list[object]]]:
    """Every response of the stand-in, as the backend's own clients see it."""
    tensors = []
    for name, value in given.items():
        kind = "BOOL" if isinstance(value, bool) else "BYTES"
        tensors.append(aio.InferInput(name, [1], kind))
        tensors[-1].set_data_from_numpy(np.array([value], np.bool_ if kind == "BOOL" else np.object_))

    async def requests() -> AsyncIterator[dict[str, object]]:
        yield {"model_name": "vllm_like", "inputs": tensors}

    found = []
    async with aio.InferenceServerClient(server.grpc) as client:
        async for result, error in client.stream_infer(requests()):
            if error:
                raise error
            names = [output.name for output in result.get_response().outputs]
            found.append({name: result.as_numpy(name).ravel().tolist() for name in names})
    return found


async def test_the_stand_in_has_the_quirks_the_backend_is_known_for(stand_in: TritonServer) -> None:
    """Prompt in front, an error for a stream that should echo, vague words for bad JSON, bool("false")."""
    text = USER.encode()
    (echoed,) = await parts(stand_in, text_input=text)
    (excluded,) = await parts(stand_in, text_input=text, exclude_input_in_output=True)
    assert echoed["text_output"] == [text + one for one in excluded["text_output"] if isinstance(one, bytes)]
    with pytest.raises(InferenceServerException, match="exclude_input_in_output"):
        await parts(stand_in, text_input=text, stream=True, exclude_input_in_output=False)
    with pytest.raises(InferenceServerException, match="Error generating stream: 'NoneType' object"):
        await parts(stand_in, text_input=text, sampling_parameters=b"{")
    flags = b'{"max_tokens": 60, "ignore_eos": %s}'
    for said, reason in ((b"false", b"stop"), (b'"false"', b"length")):
        (last,) = await parts(
            stand_in, text_input=text, sampling_parameters=flags % said, return_finish_reason=True
        )
        assert last["finish_reason"] == [reason]


def test_what_the_gateway_sends_as_sampling_is_json_of_the_right_kinds() -> None:
    from gateway.__main__ import _sampling
    from radrag.settings import Settings

    sent = json.loads(json.dumps(_sampling(Settings(), ("<|im_end|>",))))
    assert sent == {"temperature": 0.1, "top_p": 0.9, "seed": 20261201, "stop": ["<|im_end|>"]}


QUESTION = "What is the yearly occupational limit for the eye lens under ICRP since 2011?"


@pytest.mark.parametrize("kind", KINDS)
async def test_it_answers_through_the_gateway(
    kind: str, server_of: TritonServer | None, stack: Stack, triton: TritonServer, tmp_path: Path
) -> None:
    """Sources, text, one finish with tokens and a first-token time: by whatever generator."""
    async with generator_settings(kind, server_of) as more:
        generator = server_of.grpc if server_of else triton.grpc
        settings = environ(tmp_path, triton.grpc, triton.grpc, generator, RADRAG_SOURCES="1", **more)
        settings["RADRAG_RETRIEVAL_ADDRESS"] = stack.retrieval
        async with gateway(settings) as address, AsyncClient(address, deadline=300) as client:
            limits = pb.Limits(max_tokens=48 if kind == "gguf" else 400)
            frames = [frame async for frame in client.stream(QUESTION, limits=limits)]
    assert frames[0].HasField("sources")
    assert [frame.HasField("finish") for frame in frames] == [False] * (len(frames) - 1) + [True]
    finish = frames[-1].finish
    assert not finish.HasField("error")
    assert finish.usage.output_tokens > 0
    assert finish.usage.first_token_model.ToMilliseconds() > 0
    log.info(
        "%s: %d tokens read, %d written; first token %d ms, to the caller %d ms; %s, %s",
        kind, finish.usage.input_tokens, finish.usage.output_tokens,
        finish.usage.first_token_model.ToMilliseconds(), finish.usage.first_token_caller.ToMilliseconds(),
        pb.Outcome.Name(finish.outcome), finish.reason,
    )  # fmt: skip
    if kind != "gguf":  # which is no more than a model that writes
        assert finish.outcome == pb.OUTCOME_ANSWERED
        assert "".join(frame.text for frame in frames).count("[1]")


@pytest.mark.parametrize("kind", ["gguf"])
async def test_a_caller_who_leaves_stops_a_real_model_through_the_gateway_within_200_milliseconds(
    kind: str, llama: TritonServer, stack: Stack, triton: TritonServer, tmp_path: Path
) -> None:
    """From the caller's cancel at the gateway to a model that writes no more, seen among Triton's metrics."""

    async def seen(name: str, **labels: str) -> float:
        return await total(llama.metrics, f"radrag_model_{name}", model="gguf", **labels)

    async with generator_settings(kind, llama) as more:
        settings = environ(tmp_path, triton.grpc, triton.grpc, llama.grpc, RADRAG_SOURCES="1", **more)
        settings["RADRAG_RETRIEVAL_ADDRESS"] = stack.retrieval
        async with gateway(settings) as address, AsyncClient(address, deadline=300) as client:
            before = await seen("generated_tokens_total")
            async with aclosing(client.stream(QUESTION, limits=pb.Limits(max_tokens=400))) as frames:
                assert (await anext(frames)).HasField("sources")
                times = []
                for tokens in (2, 5):
                    while await seen("generated_tokens_total") < before + tokens:
                        await asyncio.sleep(0.005)
                    times.append(time.monotonic())
                assert await seen("generations", state="running") == 1
            left = time.monotonic()
            while await seen("generations", state="running"):
                assert time.monotonic() - left < 5, "it writes on"
                await asyncio.sleep(0.005)
            took = time.monotonic() - left
    token = (times[1] - times[0]) / 3
    log.info("stopped %.0f ms after the caller left; a token takes %.0f ms", took * 1000, token * 1000)
    # The token in progress is finished first, which on a busy machine may take longer than that.
    assert took < max(0.2, 1.5 * token)


@asynccontextmanager
async def generator_settings(kind: str, server: TritonServer | None) -> AsyncIterator[dict[str, str]]:
    """What names a generator of that kind in a gateway's environment."""
    if server is None:
        async with standing(quoting) as (stand, _):
            yield {
                "RADRAG_GENERATOR_KIND": "openai",
                "RADRAG_OPENAI_URL": stand.url,
                "RADRAG_OPENAI_MODEL": "qwen",
            }
        return
    template = {"gguf": "gemma", "vllm_like": "chatml"}.get(kind, "plain")
    yield {"RADRAG_GENERATOR_MODEL": kind, "RADRAG_GENERATOR_TEMPLATE": template}
