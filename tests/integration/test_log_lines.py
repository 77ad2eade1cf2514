"""What a running gateway writes of a call: one line, from the caller's id to the trace, without any text."""

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from grpc import aio

from radrag import call
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.telemetry import logs
from tests.integration.conftest import Stack
from tests.integration.test_traces import STAGES, Caller

QUESTION = "What does the Quillimaxlimit for the lens mean?"  # a word that is nowhere else
METHOD = "radrag.assistant.v1.AssistantService/"


def written(stack: Stack, process: str) -> str:
    return (Path(stack.environ["RADRAG_HOME"]) / "log" / f"{process}.log").read_text(encoding="utf-8")


def lines(stack: Stack, process: str, request_id: str) -> list[dict[str, Any]]:
    """The lines about a request, each of which must be one JSON object.

    A line may come a moment after the reply it tells of.
    """
    for _ in range(100):
        whole = written(stack, process).rpartition("\n")[0]
        read = map(json.loads, whole.splitlines())
        if found := [one for one in read if one.get("request_id") == request_id]:
            return found
        time.sleep(0.05)
    return []


async def asked(stub: AssistantServiceStub, how: str, metadata: tuple[tuple[str, str], ...]) -> None:
    if how == "GenerateStream":
        frames = stub.GenerateStream(pb.GenerateStreamRequest(question=QUESTION), metadata=metadata)
        assert [frame async for frame in frames][-1].finish.outcome == pb.OUTCOME_ANSWERED
    else:
        assert (await stub.Generate(pb.GenerateRequest(question=QUESTION), metadata=metadata)).text


@pytest.mark.parametrize("how", ["Generate", "GenerateStream"])
async def test_an_answer_is_one_line_with_its_ids_outcome_and_times(light: Stack, how: str) -> None:
    caller, request_id = Caller(), uuid.uuid4().hex
    began = time.monotonic()
    async with aio.insecure_channel(light.gateway) as channel:
        await asked(AssistantServiceStub(channel), how, (*caller.metadata, (call.REQUEST_ID, request_id)))
    took = time.monotonic() - began
    (line,) = lines(light, "gateway", request_id)
    assert line.keys() <= logs.FIELDS
    assert (line["process"], line["event"], line["level"]) == ("gateway", "call", "info")
    assert (line["method"], line["code"], line["outcome"]) == (f"{METHOD}{how}", "OK", "ANSWERED")
    assert line["trace_id"] == caller.trace
    assert line["stages"].keys() == set(STAGES)
    assert 0 < line["seconds"] <= took
    assert max(line["stages"].values()) <= line["seconds"]
    # The same ids lead on to the line of the process behind it.
    (behind,) = lines(light, "retrieval", request_id)
    assert (behind["trace_id"], behind["code"]) == (caller.trace, "OK")
    assert not any("Quillimax" in written(light, process) for process in ("gateway", "retrieval", "triton"))


async def test_a_call_that_failed_is_one_line_with_its_code(light: Stack) -> None:
    caller, request_id = Caller(), uuid.uuid4().hex
    async with aio.insecure_channel(light.gateway) as channel:
        refused = AssistantServiceStub(channel).Generate(
            pb.GenerateRequest(question=f"{QUESTION} " * 100),
            metadata=(*caller.metadata, (call.REQUEST_ID, request_id)),
        )
        with pytest.raises(aio.AioRpcError):
            await refused
    (line,) = lines(light, "gateway", request_id)
    assert (line["code"], line["outcome"], line["trace_id"]) == ("INVALID_ARGUMENT", "", caller.trace)
    assert "Quillimax" not in written(light, "gateway")
