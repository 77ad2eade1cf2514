"""The SDK against the real protocol: both clients, answers that print well, streams that can be left."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import radrag
from radrag import serving
from radrag.access.callers import Callers
from radrag.access.identity import Known
from radrag.access.opening import Access
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.errors import DeadlineExceeded, InvalidArgument, Unauthenticated, Unavailable
from radrag.triton import Piece
from tests.gateway.channel import QUESTION, service, without
from tests.gateway.fakes import ANSWER, PIPELINE
from tests.gateway.web.asking import keys
from tests.radrag.gateways import served


def test_the_waiting_client_asks_and_its_answer_prints_with_its_sources() -> None:
    with served() as address, radrag.Client(address, deadline=10) as client:
        answer = client.ask(QUESTION)
    assert answer.answered
    assert answer.outcome == "ANSWERED"
    assert str(answer).startswith(ANSWER.strip())
    assert "[1] Title of workers (workers@01234567) ✓\n    file:workers" in str(answer)
    assert repr(answer) == f"<Answer ANSWERED {answer.request_id}: 2 sources>"


def test_a_notebook_shows_quotes_and_nothing_of_an_answer_becomes_markup() -> None:
    reply = pb.GenerateResponse(
        text="<script>alert(1)</script> [1]",
        outcome=pb.OUTCOME_ANSWERED,
        citations=[pb.Citation(marker=1, parent_id="p", quote="a < b", verified=True)],
        ranked_parents=[
            pb.RankedParent(
                rank=1,
                parent_id="p",
                document=pb.Document(title="<b>T</b>", source_uri="javascript:alert(1)", document_id="d"),
            )
        ],
    )
    shown = radrag.Answer(reply)._repr_html_()
    assert "<blockquote>a &lt; b</blockquote>" in shown
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "href" not in shown


def test_the_waiting_client_streams_and_may_be_left_early() -> None:
    with served() as address, radrag.Client(address) as client:
        frames = list(client.stream(QUESTION))
        assert [frame.WhichOneof("event") for frame in frames][0::2] == ["sources", "finish"]
        for frame in client.stream(QUESTION):
            assert frame.HasField("sources")
            break


def test_failures_are_classes() -> None:
    with served() as address, radrag.Client(address) as client:
        with pytest.raises(InvalidArgument, match="question"):
            client.ask("")
        with pytest.raises(Unavailable, match="not configured"):
            client.feedback(
                pb.SubmitFeedbackRequest(request_id="x", ratings=pb.SubmitFeedbackRequest.Ratings(accuracy=5))
            )


def test_a_deadline_holds_and_the_client_goes_on() -> None:
    async def slow(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        await asyncio.sleep(30)
        yield Piece("", "", 1, 1)

    with served(without(generate=slow)) as address, radrag.Client(address) as client:
        with pytest.raises(DeadlineExceeded):
            client.ask(QUESTION, deadline=0.3)
        assert client.search(QUESTION).ranked_parents


def test_threads_share_a_client_and_closing_leaves_none_behind() -> None:
    with served() as address:
        before, answers = threading.active_count(), list[str]()
        with radrag.Client(address) as client:
            workers = [
                threading.Thread(target=lambda: answers.append(client.ask(QUESTION).outcome))
                for _ in range(4)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        assert answers == ["ANSWERED"] * 4
        assert threading.active_count() == before
        client.close()


def test_a_credential_is_not_sent_in_plaintext_beyond_this_machine() -> None:
    with pytest.raises(ValueError, match="plaintext"):
        radrag.Client("gateway.example:50051", credential="radrag_x_y")


async def test_the_waiting_client_shows_its_key_with_every_call(tmp_path: Path) -> None:
    path, made = keys(tmp_path, reader={"roles": ["reader"]})
    access = Access(Known(callers=Callers(path)))
    server = await serving.start(service(PIPELINE).add_to, "127.0.0.1:0", access=access)

    def asked(credential: str) -> list[str]:
        with radrag.Client(f"127.0.0.1:{server.port}", 10, credential=credential) as client:
            first, *_ = client.stream(QUESTION)
            return [client.ask(QUESTION).outcome, str(first.WhichOneof("event"))]

    try:
        assert await asyncio.to_thread(asked, made["reader"]) == ["ANSWERED", "sources"]
        for stranger, reason in (("", "NO_CREDENTIAL"), ("radrag_x_" + "a" * 43, "KEY_UNKNOWN")):
            with pytest.raises(Unauthenticated) as refused:
                await asyncio.to_thread(asked, stranger)
            assert refused.value.reason == reason
    finally:
        await server.stop()
