"""What becomes of a generator's stream that ends oddly, over the door to Triton with its stub replaced."""

from collections.abc import AsyncIterator
from struct import pack
from typing import Any

import pytest
from tritonclient.grpc import service_pb2

from radrag.errors import ModelUnavailable
from radrag.triton import ModelServer, Piece


def response(text: bytes, reason: bytes, **counts: int) -> Any:
    """One response of the vLLM backend's tensors."""
    said = service_pb2.ModelInferResponse()
    for name, value in (("finish_reason", reason), ("text_output", text)):
        said.outputs.add(name=name, datatype="BYTES", shape=[1])
        said.raw_output_contents.append(pack("<I", len(value)) + value)
    for name, count in counts.items():
        said.outputs.add(name=name, datatype="UINT32", shape=[1])
        said.raw_output_contents.append(pack("<I", count))
    return service_pb2.ModelStreamInferResponse(infer_response=said)


class Stream:
    def __init__(self, *responses: Any) -> None:
        self.responses = responses
        self.cancelled = False

    async def __aiter__(self) -> AsyncIterator[Any]:
        for one in self.responses:
            yield one

    def cancel(self) -> None:
        self.cancelled = True


async def written(monkeypatch: pytest.MonkeyPatch, *responses: Any) -> list[Piece]:
    server, stream = ModelServer("127.0.0.1:1", "generator"), Stream(*responses)
    monkeypatch.setattr(server._stub, "ModelStreamInfer", lambda *given, **more: stream)
    try:
        return [piece async for piece in server.generate("any", "prompt", {})]
    finally:
        assert stream.cancelled
        await server.close()


@pytest.mark.parametrize(
    ("said", "reason"), [(b"stop", "stop"), (b"length", "length"), (b"abort", "length"), (b"error", "length")]
)
async def test_whatever_cut_an_answer_it_is_not_whole(
    monkeypatch: pytest.MonkeyPatch, said: bytes, reason: str
) -> None:
    found = await written(monkeypatch, response(b"20 mSv", b"None"), response(b"", said))
    assert [piece.finish_reason for piece in found] == ["", reason]


@pytest.mark.parametrize("responses", [(), (response(b"20", b"None"),), (response(b"20", b""),)])
async def test_a_stream_without_an_end_is_a_missing_model_and_no_answer(
    monkeypatch: pytest.MonkeyPatch, responses: tuple[Any, ...]
) -> None:
    with pytest.raises(ModelUnavailable):
        await written(monkeypatch, *responses)


async def test_half_a_letter_is_replaced_and_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await written(monkeypatch, response("д".encode()[:1], b"None"), response(b"x", b"stop"))
    assert [piece.text for piece in found] == ["\N{REPLACEMENT CHARACTER}", "x"]


async def test_an_error_behind_an_answers_end_is_still_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = service_pb2.ModelStreamInferResponse(error_message="Error generating stream: CANARY")
    with pytest.raises(ModelUnavailable, match=r"^the generator does not answer$"):
        await written(monkeypatch, response(b"20", b"stop"), failure)


async def test_counts_are_read_where_they_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    last = response("мЗв".encode(), b"stop", num_output_tokens=2, num_input_tokens=70_000)
    found = await written(monkeypatch, response(b"20 ", b"None"), last)
    assert found == [Piece("20 ", "", 0, 0), Piece("мЗв", "stop", 70_000, 2)]
