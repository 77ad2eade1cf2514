"""The client SDK over a real channel: typed replies, typed failures, and nothing but the base install."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from radrag import call, errors
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from tests import assistant
from tests.assistant import Assistant

ROOT = Path(__file__).parents[2]
# What comes with extras only; the client must not notice that it is missing.
EXTRAS = ["grpc_health", "grpc_reflection", "prometheus_client", "opentelemetry", "structlog", "uvloop"]
EXTRAS += ["tritonclient", "numpy", "qdrant_client", "qdrant_edge", "rich", "docling", "tokenizers", "bs4"]


@pytest.fixture
async def service() -> AsyncIterator[tuple[Assistant, AsyncClient]]:
    async with assistant.running() as (servicer, address), AsyncClient(address, deadline=5) as client:
        yield servicer, client


async def test_each_call_returns_its_typed_reply(service: tuple[Assistant, AsyncClient]) -> None:
    _, client = service
    assert (await client.search("q")).ranked_parents[0].rank == 1
    assert (await client.prompt("q")).prompt == "prompt: q"
    assert (await client.generate("доза")).text == "доза [1]"
    assert (await client.info()).topics == ["regulation"]


async def test_filter_and_limits_reach_the_server(service: tuple[Assistant, AsyncClient]) -> None:
    servicer, client = service
    given = pb.Filter(topics=["regulation"]), pb.Limits(sources=2)
    await client.search("q", *given)
    assert servicer.requests == [pb.SearchRequest(question="q", filter=given[0], limits=given[1])]


async def test_a_stream_yields_sources_then_text_then_one_finish(
    service: tuple[Assistant, AsyncClient],
) -> None:
    _, client = service
    kinds = [frame.WhichOneof("event") async for frame in client.stream("доза")]
    assert kinds == ["sources", "text", "text", "text", "finish"]


async def test_leaving_a_stream_early_cancels_the_work_on_the_server(
    service: tuple[Assistant, AsyncClient],
) -> None:
    servicer, client = service
    async with aclosing(client.stream("endless")) as frames:
        async for frame in frames:
            if frame.text == "[1]":
                break
    await asyncio.wait_for(servicer.cancelled.wait(), 1)


@pytest.mark.parametrize("question", assistant.FAILURES)
async def test_a_failure_arrives_as_the_class_the_server_raised(
    service: tuple[Assistant, AsyncClient], question: str
) -> None:
    sent = assistant.FAILURES[question]
    kind = errors.Unavailable if isinstance(sent, errors.Unavailable) else type(sent)
    with pytest.raises(kind) as unary:
        await service[1].generate(question)
    with pytest.raises(kind) as streamed:
        [frame async for frame in service[1].stream(question)]
    assert unary.value.message == streamed.value.message == sent.message


async def test_details_survive_the_wire(service: tuple[Assistant, AsyncClient]) -> None:
    """The field, the retry hint and the reason are what a program branches on."""
    _, client = service
    with pytest.raises(errors.InvalidArgument) as invalid:
        await client.generate("invalid")
    with pytest.raises(errors.Overloaded) as overloaded:
        await client.generate("overloaded")
    with pytest.raises(errors.Unavailable) as down:
        await client.generate("generator down")
    assert invalid.value.field == "filter.topics[0]"
    assert overloaded.value.retry_after == 2.5
    assert down.value.reason == "GENERATOR_UNAVAILABLE"


async def test_a_question_that_is_no_text_is_an_invalid_argument_and_is_not_sent(
    service: tuple[Assistant, AsyncClient],
) -> None:
    servicer, client = service
    bad = "\udcff"
    calls = [client.search(bad), client.prompt(bad), client.generate(bad), client.ask(bad)]
    for one in (*calls, anext(client.stream(bad))):
        with pytest.raises(errors.InvalidArgument, match="question: must be UTF-8 text"):
            await one
    assert not servicer.requests


@pytest.mark.parametrize("credential", ["\udcff", "ключ", "a\n"])
def test_a_credential_that_no_header_can_carry_is_refused_without_showing_it(credential: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII") as refused:
        AsyncClient("127.0.0.1:1", credential=credential)
    assert credential not in str(refused.value)


async def test_the_deadline_is_the_clients_the_calls_or_what_the_running_call_has_left(
    service: tuple[Assistant, AsyncClient],
) -> None:
    servicer, client = service
    await client.search("q")
    assert 3 < servicer.time_left <= 5.1
    await client.search("q", deadline=2)
    assert 1 < servicer.time_left <= 2.1
    with call.running(call.Call(deadline=time.monotonic() + 1)):
        await client.search("q")
    assert 0 < servicer.time_left <= 1.1  # gRPC rounds up


async def test_a_passed_deadline_is_not_even_sent(service: tuple[Assistant, AsyncClient]) -> None:
    servicer, client = service
    with call.running(call.Call(deadline=time.monotonic())), pytest.raises(errors.DeadlineExceeded):
        await client.search("q")
    assert not servicer.requests


async def test_where_nothing_listens_a_call_is_unavailable_within_its_deadline() -> None:
    began = time.monotonic()
    async with AsyncClient("127.0.0.1:1", deadline=5) as client:
        with pytest.raises(errors.Unavailable):
            await client.generate("q")
    assert time.monotonic() - began < 5


def test_the_client_needs_the_base_install_only() -> None:
    blocked = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"
    finished = subprocess.run(
        [sys.executable, "-c", f"{blocked}; import radrag.client; print(radrag.client.AsyncClient.__name__)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.stdout, finished.stderr) == ("AsyncClient\n", "")


def test_asking_needs_no_more_than_the_client_does() -> None:
    """`radrag ask` on a workstation: the commands that ask import no service's library, not even rich."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"
    finished = subprocess.run(
        [sys.executable, "-c", f"{blocked}; import cli.__main__, cli.question; print('ok')"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.stdout, finished.stderr) == ("ok\n", "")


class Away(Assistant):
    """Does not answer the first `times` calls."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    def _taken(self, request: object, question: str) -> None:
        super()._taken(request, question)
        if len(self.requests) <= self._times:
            raise errors.Unavailable("not yet")


async def test_a_search_is_tried_again_twice() -> None:
    async with assistant.running(Away(2)) as (servicer, address), AsyncClient(address, 10) as client:
        assert (await client.search("q")).ranked_parents
        assert len(servicer.requests) == 3
    async with assistant.running(Away(9)) as (servicer, address), AsyncClient(address, 10) as client:
        with pytest.raises(errors.Unavailable):
            await client.search("q")
        assert len(servicer.requests) == 3


async def test_an_answer_costs_and_is_not_tried_again() -> None:
    async with assistant.running(Away(1)) as (servicer, address), AsyncClient(address, 10) as client:
        with pytest.raises(errors.Unavailable):
            await client.generate("q")
        assert len(servicer.requests) == 1
