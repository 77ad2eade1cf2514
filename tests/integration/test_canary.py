"""Marked texts go through the whole stack, also where it fails; then every sink is searched for them.

What keeps documents because that is its work is left out: the index, the catalogue, and files handed in.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest
from grpc import aio

from radrag import call
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.knowledge.v1 import knowledge_pb2 as knowledge
from radrag.knowledge.v1.knowledge_pb2_grpc import KnowledgeServiceStub
from radrag.retrieval.v1 import retrieval_pb2 as index
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from tests.ingest.knowledge import submission
from tests.integration.conftest import Stack, slowly
from tests.integration.test_traces import Caller
from tests.integration.test_watched import metrics_of
from tests.otlp import Receiver, Span

WORD = "Zorbifex"  # no word of any language, and in no document of the samples
DOCUMENT = f"""# Handling of the {WORD} phantom

The {WORD} phantom must be stored at 7 °C. The annual dose limit for work with the {WORD} phantom is 4 mSv.
"""
ASKED = f"What is the annual dose limit for work with the {WORD} phantom?"
BROKEN = f"%PDF-1.4\n1 0 obj (Notes on the {WORD} phantom) endobj, and no end"
HERE = pb.Filter(document_ids=["phantom.md"])
AT_ONCE = 0.001  # seconds; the quickest answer takes twenty times as long
KEEPERS = ("index", "catalogue.db", "uploads")


@pytest.fixture(scope="module")
def slow(light: Stack, collector: Receiver) -> Iterator[Stack]:
    """A gateway beside the stack's, below its home, whose generator writes for half a minute."""
    with slowly(light, collector, Path(light.environ["RADRAG_HOME"]) / "slow") as (stack, _):
        yield stack


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
        reply = await stub.Generate(pb.GenerateRequest(question=ASKED, filter=HERE))
        assert WORD in reply.text, "the document is not what was answered from"
        told += [str(reply.stages), str(reply.manifest), reply.reason]
        async for _ in stub.GenerateStream(pb.GenerateStreamRequest(question=ASKED)):
            pass
        async with aclosing(_frames(stub)) as frames:
            await anext(frames)
        told.append(await fails(stub, pb.GenerateRequest(question=WORD * 400)))
        wrong = pb.Filter(topics=[WORD.lower()])
        told.append(str(await fails(stub, pb.GenerateRequest(question=ASKED, filter=wrong))).lower())
        told.append(await fails(stub, pb.GenerateRequest(question=f"{ASKED} now"), AT_ONCE))
        ids = ((call.REQUEST_ID, f"{WORD} {WORD}"),)
        told.append(await fails(stub, pb.GenerateRequest(question=""), metadata=ids))
        told.append(str(await stub.GetInfo(pb.GetInfoRequest())))
    return "\n".join(told)


async def _frames(stub: AssistantServiceStub) -> AsyncGenerator[pb.GenerateStreamResponse, None]:
    async for frame in stub.GenerateStream(pb.GenerateStreamRequest(question=ASKED)):
        yield frame


async def run_out_of_time(address: str, collector: Receiver) -> str:
    """Calls whose time is up while the generator writes; returns what they say beside their text."""
    unary, streamed = Caller(), Caller()
    async with aio.insecure_channel(address) as channel:
        stub = AssistantServiceStub(channel)
        request = pb.GenerateRequest(question=f"{ASKED} Now?", filter=HERE)
        told = await fails(stub, request, 4.0, metadata=unary.metadata)
        asked = pb.GenerateStreamRequest(question=f"{ASKED} Then?", filter=HERE)
        frames, text = stub.GenerateStream(asked, timeout=8.0, metadata=streamed.metadata), ""
        try:
            async for frame in frames:
                text, end = text + frame.text, frame.finish
                told += f"{end.error} {end.reason} {end.stages} {end.manifest}"
        except aio.AioRpcError as error:
            told += f"{error.code()} {error.details()} {error.trailing_metadata()!r}"
    assert told.count("DEADLINE_EXCEEDED") >= 2  # a stream may say so in its last frame, with the status OK
    assert WORD in text, "nothing of the document was written before the time was up"
    for caller in (unary, streamed):
        spans = await asyncio.to_thread(collector.wait, caller.trace, lambda some: bool(generating(some)))
        assert generating(spans) <= {"CancelledError", "DeadlineExceeded", "ok"}, "it did not get so far"
        assert generating(spans)
    return told


def generating(spans: list[Span]) -> set[object]:
    """How the generator's stage ended."""
    return {span.attributes["radrag.outcome"] for span in spans if span.name == "radrag.generate"}


async def ask_over_http(url: str) -> str:
    """Asks and fails over REST, and as a stream of events; returns what failures say."""
    asked = {"question": ASKED, "filter": {"documentIds": list(HERE.document_ids)}}
    plain, told = {"Content-Type": "application/json"}, ""
    for accept, text in (("application/json", in_json), ("text/event-stream", in_events)):
        async with httpx.AsyncClient(base_url=url, headers=plain | {"Accept": accept}, timeout=30) as client:
            reply = await client.post("/v1/generate", json=asked)
            assert WORD in text(reply)
            too_long = json.dumps({"question": WORD * 400})
            for body in (too_long, too_long[:-1]):
                refused = await client.post("/v1/generate", content=body)
                assert refused.status_code == 400
                told += f"{refused.headers} {refused.text}"
    return told


def in_json(reply: httpx.Response) -> str:
    return str(reply.json()["text"])


def in_events(reply: httpx.Response) -> str:
    events = (event.splitlines() for event in reply.text.split("\n\n") if event)
    said = [json.loads(lines[1].removeprefix("data: ")) for lines in events if lines[0] == "event: text"]
    return "".join(one["text"] for one in said)


async def hand_in_what_cannot_be_read(address: str) -> str:
    """A marked file that no parser can read; returns what is said of it."""
    async with aio.insecure_channel(address) as channel:
        stub = KnowledgeServiceStub(channel)
        reply = await stub.SubmitDocument(submission("broken.pdf", BROKEN))
        last = knowledge.WatchJobResponse()
        async for last in stub.WatchJob(knowledge.WatchJobRequest(job_id=reply.job_id), timeout=120):  # noqa: B007
            pass
    assert (last.done, last.state) == (True, knowledge.STATE_FAILED)
    assert last.error
    return str(last)


async def ask_retrieval_wrongly(address: str) -> str:
    async with aio.insecure_channel(address) as channel:
        with pytest.raises(aio.AioRpcError) as failed:
            await RetrievalServiceStub(channel).Search(index.SearchRequest(question=ASKED, vector=[1.0, 2.0]))
    return f"{failed.value.details()} {failed.value.trailing_metadata()!r}"


def taken_in(stack: Stack, folder: Path) -> str:
    """Takes in the marked document, and one that cannot be read; returns what the command said."""
    (folder / "phantom.md").write_text(DOCUMENT, encoding="utf-8")
    (folder / "cut.pdf").write_text(BROKEN, encoding="utf-8")
    words = ("ingest", "--topic", "safety", "--approve", "--json")
    done, failed = (stack.radrag(*words, str(folder / name)) for name in ("phantom.md", "cut.pdf"))
    assert done.returncode == 0, done.stderr
    assert failed.returncode == 1, "it could be read"
    return "".join((done.stdout, done.stderr, failed.stdout, failed.stderr))


async def everything(light: Stack, slow: Stack, collector: Receiver) -> list[str]:
    """All there is to do wrong and right; what was said of it beside texts that were asked for."""
    return [
        await hand_in_what_cannot_be_read(light.environ["RADRAG_INGEST_ADDRESS"]),
        await ask_everything(light.gateway),
        await ask_over_http(light.http),
        await run_out_of_time(slow.gateway, collector),
        await ask_retrieval_wrongly(light.retrieval),
    ]


def test_marked_texts_are_in_no_sink(light: Stack, slow: Stack, collector: Receiver, tmp_path: Path) -> None:
    home = Path(light.environ["RADRAG_HOME"])
    errors = [taken_in(light, tmp_path), *asyncio.run(everything(light, slow, collector))]
    time.sleep(1.5)  # spans are sent every third of a second

    sinks: dict[str, bytes] = {"errors": "\n".join(errors).encode()}
    sinks |= {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and not path.relative_to(home).parts[0].startswith(KEEPERS)
    }
    sinks |= {f"span {number}": body for number, body in enumerate(collector.bodies)}
    addresses = (light.gateway, light.retrieval, light.environ["RADRAG_INGEST_ADDRESS"], slow.gateway)
    for name, address in zip(("gateway", "retrieval", "ingest", "slow"), addresses, strict=True):
        with urllib.request.urlopen(f"http://{metrics_of(address)}/metrics", timeout=5) as page:
            sinks[f"metrics of {name}"] = page.read()

    logs = {"log/gateway.log", "log/retrieval.log", "log/ingest.log", "log/triton.log"}
    assert {*logs, "slow/log/gateway.log", "slow/log/slow.log"} <= sinks.keys()
    chains = {f"audit/{process}/00000001.jsonl" for process in ("gateway", "ingest", "cli")}
    assert {*chains, "slow/audit/gateway/00000001.jsonl"} <= sinks.keys()
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
