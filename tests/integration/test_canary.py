"""Marked texts go through the whole stack, also where it fails; then every sink is searched for them.

What keeps documents because that is its work is left out: the index, the catalogue, and files handed in.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest
from grpc import aio

from radrag import call
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.retrieval.v1 import retrieval_pb2 as index
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from tests.integration.conftest import Stack
from tests.integration.test_watched import metrics_of
from tests.otlp import Receiver

WORD = "Zorbifex"  # no word of any language, and in no document of the samples
DOCUMENT = f"""# Handling of the {WORD} phantom

The {WORD} phantom must be stored at 7 °C. The annual dose limit for work with the {WORD} phantom is 4 mSv.
"""
ASKED = f"What is the annual dose limit for work with the {WORD} phantom?"
KEEPERS = ("index", "catalogue.db", "uploads")


async def fails(stub: AssistantServiceStub, request: object, seconds: float = 20.0, **more: object) -> str:
    """All that a caller is told of a failure."""
    with pytest.raises(aio.AioRpcError) as failed:
        await stub.Generate(request, timeout=seconds, **more)
    error = failed.value
    return f"{error.code()} {error.details()} {error.trailing_metadata()!r}"


async def ask_everything(address: str) -> str:
    """Asks, streams, leaves and fails; returns what errors and replies say beside their text."""
    told = []
    async with aio.insecure_channel(address) as channel:
        stub = AssistantServiceStub(channel)
        reply = await stub.Generate(pb.GenerateRequest(question=ASKED))
        assert any(WORD in parent.text for parent in reply.ranked_parents), "the document was not found"
        told += [str(reply.stages), str(reply.manifest), reply.reason]
        async for _ in stub.GenerateStream(pb.GenerateStreamRequest(question=ASKED)):
            pass
        async with aclosing(_frames(stub)) as frames:
            await anext(frames)
        told.append(await fails(stub, pb.GenerateRequest(question=WORD * 400)))
        wrong = pb.Filter(topics=[WORD.lower()])
        told.append(str(await fails(stub, pb.GenerateRequest(question=ASKED, filter=wrong))).lower())
        told.append(await fails(stub, pb.GenerateRequest(question=f"{ASKED} now"), 0.03))
        ids = ((call.REQUEST_ID, f"{WORD} {WORD}"),)
        told.append(await fails(stub, pb.GenerateRequest(question=""), metadata=ids))
        told.append(str(await stub.GetInfo(pb.GetInfoRequest())))
    return "\n".join(told)


async def _frames(stub: AssistantServiceStub) -> AsyncGenerator[pb.GenerateStreamResponse, None]:
    async for frame in stub.GenerateStream(pb.GenerateStreamRequest(question=ASKED)):
        yield frame


async def ask_retrieval_wrongly(address: str) -> str:
    async with aio.insecure_channel(address) as channel:
        with pytest.raises(aio.AioRpcError) as failed:
            await RetrievalServiceStub(channel).Search(index.SearchRequest(question=ASKED, vector=[1.0, 2.0]))
    return f"{failed.value.details()} {failed.value.trailing_metadata()!r}"


def test_marked_texts_are_in_no_sink(light: Stack, collector: Receiver, tmp_path: Path) -> None:
    home = Path(light.environ["RADRAG_HOME"])
    document = tmp_path / "phantom.md"
    document.write_text(DOCUMENT, encoding="utf-8")
    done = light.radrag("ingest", str(document), "--topic", "safety", "--approve", "--json")
    assert done.returncode == 0, done.stderr
    errors = asyncio.run(ask_everything(light.gateway)) + asyncio.run(ask_retrieval_wrongly(light.retrieval))
    time.sleep(1.5)  # spans are sent every third of a second

    sinks: dict[str, bytes] = {"errors": errors.encode()}
    sinks |= {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and not path.relative_to(home).parts[0].startswith(KEEPERS)
    }
    sinks |= {f"span {number}": body for number, body in enumerate(collector.bodies)}
    addresses = (light.gateway, light.retrieval, light.environ["RADRAG_INGEST_ADDRESS"])
    for name, address in zip(("gateway", "retrieval", "ingest"), addresses, strict=True):
        with urllib.request.urlopen(f"http://{metrics_of(address)}/metrics", timeout=5) as page:
            sinks[f"metrics of {name}"] = page.read()

    logs = {Path(name).name for name in sinks}
    assert {"gateway.log", "retrieval.log", "ingest.log", "triton.log"} <= logs
    assert {"audit/gateway/00000001.jsonl", "audit/cli/00000001.jsonl"} <= sinks.keys()
    found = [name for name, text in sinks.items() if WORD.lower().encode() in text.lower()]
    assert found == []


def test_the_search_would_find_it(light: Stack) -> None:
    """The index, which the search leaves out, has it: after the test above that one is not blind."""
    home = Path(light.environ["RADRAG_HOME"])
    kept = [path for path in home.rglob("*") if path.is_file() and WORD.encode() in path.read_bytes()]
    assert kept
    assert all(path.relative_to(home).parts[0].startswith(KEEPERS) for path in kept)


def test_a_calls_record_names_its_documents_and_hashes(light: Stack) -> None:
    home = Path(light.environ["RADRAG_HOME"])
    lines = (home / "audit" / "gateway" / "00000001.jsonl").read_text().splitlines()[1:]
    records = [json.loads(line) for line in lines]
    assert any(record.get("documents") for record in records)
    assert all(len(record["question_hmac"]) == 64 for record in records if "question_hmac" in record)
