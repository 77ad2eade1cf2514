"""A version's last day can be set after it was published, and every version can be listed."""

from pathlib import Path

import grpc
import pytest
from grpc import aio

from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from tests.retrieval.making import EMBEDDER, Made, embedder_message, made, vector
from tests.retrieval.running import TODAY, publish, room, service


async def found(stub: RetrievalServiceStub, text: str, day: int = TODAY) -> list[str]:
    reply = await stub.Search(
        wire.SearchRequest(
            question=text, vector=vector(text), embedder=embedder_message(EMBEDDER), as_of_day=day
        )
    )
    return [one.document.version for one in reply.parents]


async def retired(stub: RetrievalServiceStub, one: Made, day: int) -> wire.RetireDocumentResponse:
    document = one.header.document
    reply: wire.RetireDocumentResponse = await stub.RetireDocument(
        wire.RetireDocumentRequest(document_id=document.document_id, version=document.version, valid_to=day)
    )
    return reply


async def listed(stub: RetrievalServiceStub) -> dict[str, tuple[bool, int]]:
    return {
        one.document.version: (one.live, one.document.valid_to)
        async for reply in stub.ListVersions(wire.ListVersionsRequest())
        for one in reply.versions
    }


async def test_an_ended_version_is_found_on_earlier_days_only(tmp_path: Path) -> None:
    one = made("one", "Lens dose limits.")
    async with service(tmp_path) as (stub, inside):
        await publish(stub, one)
        assert (await retired(stub, one, TODAY)).changed
        assert await found(stub, "lens dose") == []
        assert await found(stub, "lens dose", TODAY - 1) == [one.header.document.version]
        assert not (await retired(stub, one, TODAY)).changed
        assert (await retired(stub, one, TODAY + 5)).changed
        await inside.index.settle()
        assert await found(stub, "lens dose") == [one.header.document.version]
    async with room(tmp_path) as again:
        assert await again.documents("lens dose", day=TODAY + 5) == []


async def test_an_end_before_the_first_day_is_refused_and_an_unknown_version_changes_nothing(
    tmp_path: Path,
) -> None:
    async with service(tmp_path) as (stub, _):
        await publish(stub, made("one", "One.", valid_from=50))
        with pytest.raises(aio.AioRpcError) as refused:
            await retired(stub, made("one", "One."), 50)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert not (await retired(stub, made("two", "Two."), 60)).changed


async def test_a_superseded_version_cannot_reach_into_the_days_of_its_successor(tmp_path: Path) -> None:
    old, new = made("one", "Old dose."), made("one", "New dose.", valid_from=50)
    async with service(tmp_path) as (stub, _):
        await publish(stub, old)
        await publish(stub, new)
        with pytest.raises(aio.AioRpcError, match="version that followed"):
            await retired(stub, old, 60)
        assert (await retired(stub, old, 40)).changed
        assert [await found(stub, "dose", day) for day in (39, 45, 55)] == [
            [old.header.document.version],
            [],
            [new.header.document.version],
        ]


@pytest.mark.parametrize("missing", ["document_id", "version", "valid_to"])
async def test_an_end_names_what_it_lacks(tmp_path: Path, missing: str) -> None:
    request = wire.RetireDocumentRequest(document_id="one", version="0" * 16, valid_to=5)
    request.ClearField(missing)
    async with service(tmp_path) as (stub, _):
        with pytest.raises(aio.AioRpcError, match=missing) as refused:
            await stub.RetireDocument(request)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_all_versions_are_listed_whoever_may_see_them_with_their_days(tmp_path: Path) -> None:
    old, new = made("one", "Old."), made("one", "New.", valid_from=60)
    secret = made("secret", "Hidden.", access_labels=("staff",))
    async with service(tmp_path) as (stub, _):
        assert await listed(stub) == {}
        for one in (old, new, secret):
            await publish(stub, one)
        assert await listed(stub) == {
            old.header.document.version: (False, 60),
            new.header.document.version: (True, 0),
            secret.header.document.version: (True, 0),
        }
