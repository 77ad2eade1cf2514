"""Each act of a curator over the ingest service's gRPC is in that process's chain: who, what, how it went."""

import json
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode, aio

from radrag.audit import segments
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.knowledge.v1.knowledge_pb2_grpc import KnowledgeServiceStub
from tests.ingest.knowledge import caller, submission
from tests.integration.conftest import Stack

TEXT = "# Apron\n\nThe apron for the audited room has 0.5 mm of lead."
DOCUMENT = "audited.md"
PEOPLE = ("una", "anna", "boris", "clara")


async def ended(stub: KnowledgeServiceStub, job_id: str) -> wire.WatchJobResponse:
    last = wire.WatchJobResponse()
    async for last in stub.WatchJob(wire.WatchJobRequest(job_id=job_id), timeout=120):  # noqa: B007
        pass
    return last


async def curated(address: str) -> str:
    """Hands in, reviews, publishes and deletes, each by another person; the version."""
    async with aio.insecure_channel(address) as channel:
        stub = KnowledgeServiceStub(channel)
        taken = await stub.SubmitDocument(submission(DOCUMENT, TEXT), metadata=caller("una"))
        assert (await ended(stub, taken.job_id)).state == wire.STATE_IN_REVIEW
        version = str(
            (await stub.GetDocument(wire.GetDocumentRequest(document_id=DOCUMENT))).document.version
        )
        publish = wire.PublishDocumentRequest(document_id=DOCUMENT, version=version)
        with pytest.raises(aio.AioRpcError) as early:
            await stub.PublishDocument(publish, metadata=caller("boris"))
        assert early.value.code() is StatusCode.FAILED_PRECONDITION
        approve = wire.ReviewDocumentRequest(
            document_id=DOCUMENT, version=version, decision=wire.ReviewDocumentRequest.DECISION_APPROVE
        )
        await stub.ReviewDocument(approve, metadata=caller("anna"))
        published = await stub.PublishDocument(publish, metadata=caller("boris"))
        assert (await ended(stub, published.job_id)).state == wire.STATE_PUBLISHED
        await stub.DeleteDocument(wire.DeleteDocumentRequest(document_id=DOCUMENT), metadata=caller("clara"))
    return version


def records(stack: Stack) -> list[dict[str, Any]]:
    """What is in the chain by now: a record is there before its caller sees the end."""
    folder = Path(stack.environ["RADRAG_HOME"]) / "audit" / "ingest"
    found = map(json.loads, segments.lines(folder))
    return [one for one in found if one.get("subject") in PEOPLE]


async def test_every_act_of_a_curator_is_on_record_with_who_what_and_which_version(light: Stack) -> None:
    version = await curated(light.environ["RADRAG_INGEST_ADDRESS"])
    about, nothing = [f"{DOCUMENT}@{version}"], None
    found = [
        (
            one["subject"],
            one["method"].rpartition("/")[2],
            one["code"],
            one["outcome"],
            one.get("documents"),
        )
        for one in records(light)
    ]
    assert found == [
        ("una", "SubmitDocument", "OK", "discovered", [f"{DOCUMENT}@"]),  # its version follows from its text
        ("boris", "PublishDocument", "FAILED_PRECONDITION", "", nothing),
        ("anna", "ReviewDocument", "OK", "approved", about),
        ("boris", "PublishDocument", "OK", "publishing", about),
        ("clara", "DeleteDocument", "OK", "deleted", about),
    ]
    assert all(one["method"].startswith("radrag.knowledge.v1.KnowledgeService/") for one in records(light))
