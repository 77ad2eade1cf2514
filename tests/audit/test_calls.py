"""Every call leaves one record, before its caller sees the end; no record, no call where it is required."""

import asyncio
import json
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from gateway.pipeline import Pipeline
from radrag import call
from radrag.account import Trail
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.audit import segments
from radrag.audit.journal import Journal
from radrag.errors import ModelUnavailable
from tests.audit.trails import faults, plan
from tests.gateway.channel import QUESTION, asking, without
from tests.gateway.fakes import PIPELINE, saying

CALLER = ((call.SUBJECT, "anna"), (call.ROLES, "reader"), (call.REQUEST_ID, "r-1"))


@asynccontextmanager
async def audited(
    folder: Path, pipeline: Pipeline = PIPELINE, *, required: bool = True, content: bool = False
) -> AsyncIterator[AssistantServiceStub]:
    journal = Journal(plan(folder, content=content))
    try:
        async with asking(pipeline, Trail(journal, required)) as stub:
            yield stub
    finally:
        journal.close()


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in segments.lines(folder / "gateway")][1:]


async def test_an_answer_leaves_who_when_what_and_which_documents(tmp_path: Path) -> None:
    async with audited(tmp_path) as stub:
        await stub.Generate(wire.GenerateRequest(question=QUESTION), metadata=CALLER)
    (record,) = records(tmp_path)
    assert (record["subject"], record["roles"], record["request_id"]) == ("anna", ["reader"], "r-1")
    assert record["method"] == "radrag.assistant.v1.AssistantService/Generate"
    assert (record["code"], record["outcome"]) == ("OK", "ANSWERED")
    assert record["documents"] == ["workers@0123456789abcdef"]
    assert len(record["manifest_sha256"]) == len(record["question_hmac"]) == 64
    assert faults(tmp_path) == []


async def test_texts_are_kept_only_where_that_is_asked_for(tmp_path: Path) -> None:
    for content in (False, True):
        folder = tmp_path / str(content)
        async with audited(folder, content=content) as stub:
            await stub.Generate(wire.GenerateRequest(question=QUESTION))
        written = (folder / "gateway" / "00000001.jsonl").read_text()
        assert (QUESTION in written, "20 mSv" in written) == (content, content)


async def test_a_stream_is_on_record_before_its_finish(tmp_path: Path) -> None:
    async with audited(tmp_path) as stub:
        async for frame in stub.GenerateStream(wire.GenerateStreamRequest(question=QUESTION)):
            if frame.WhichOneof("event") == "finish":
                assert [record["outcome"] for record in records(tmp_path)] == ["ANSWERED"]
                break
        else:
            raise AssertionError("no finish came")
    assert len(records(tmp_path)) == 1


async def test_errors_cancels_and_bad_requests_are_on_record_once_each(tmp_path: Path) -> None:
    dead = without(generate=_dead)
    async with audited(tmp_path, dead) as stub:
        with pytest.raises(grpc.RpcError):
            await stub.Generate(wire.GenerateRequest(question=QUESTION))
        with pytest.raises(grpc.RpcError):
            await stub.Generate(wire.GenerateRequest(question="x" * 2001))
    async with audited(tmp_path, without(generate=_endless)) as stub:
        frames = stub.GenerateStream(wire.GenerateStreamRequest(question=QUESTION))
        await frames.read()
        frames.cancel()
        while len(records(tmp_path)) < 3:
            await asyncio.sleep(0.01)
    assert [record["code"] for record in records(tmp_path)] == [
        "UNAVAILABLE",
        "INVALID_ARGUMENT",
        "CANCELLED",
    ]


@pytest.mark.parametrize("required", [True, False])
async def test_without_its_record_a_call_fails_where_records_are_required(
    tmp_path: Path, required: bool
) -> None:
    async with audited(tmp_path, required=required) as stub:
        (tmp_path / "gateway" / "00000001.jsonl").unlink()
        frames = [one async for one in stub.GenerateStream(wire.GenerateStreamRequest(question=QUESTION))]
        assert frames[-1].finish.error.reason == ("AUDIT_UNAVAILABLE" if required else "")
        if not required:
            await stub.Search(wire.SearchRequest(question=QUESTION))
            return
        with pytest.raises(grpc.RpcError) as failed:
            await stub.Search(wire.SearchRequest(question=QUESTION))
        assert failed.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_on_a_full_disk_calls_fail_where_records_are_required_until_there_is_room(
    tmp_path: Path,
) -> None:
    """The limit on a file's size stands for the disk."""
    async with audited(tmp_path) as stub:
        await stub.Search(wire.SearchRequest(question=QUESTION))
        size = (tmp_path / "gateway" / "00000001.jsonl").stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
        try:
            for _ in range(3):
                with pytest.raises(grpc.RpcError) as failed:
                    await stub.Search(wire.SearchRequest(question=QUESTION))
                assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        await stub.Search(wire.SearchRequest(question=QUESTION))
    assert [record["code"] for record in records(tmp_path)] == ["OK", "OK"]
    assert faults(tmp_path) == []


async def test_no_record_is_lost_or_doubled_under_load(tmp_path: Path) -> None:
    async with audited(tmp_path) as stub:
        await asyncio.gather(*(stub.Search(wire.SearchRequest(question=QUESTION)) for _ in range(50)))
    found = records(tmp_path)
    assert len({record["request_id"] for record in found}) == len(found) == 50
    assert faults(tmp_path) == []


async def _dead(prompt: str, max_tokens: int) -> AsyncIterator[object]:
    raise ModelUnavailable("generator")
    yield


async def _endless(prompt: str, max_tokens: int) -> AsyncIterator[object]:
    async for piece in saying("The annual dose limit for workers is 20 mSv [1]. ")(prompt, max_tokens):
        yield replace(piece, finish_reason="")
    await asyncio.sleep(60)
