"""One table over every RPC: which role may call it, over real channels with real keys; deny by default."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType

import grpc
import pytest
from grpc import aio

from radrag import serving
from radrag.access import rights
from radrag.access.callers import Callers, digest, made
from radrag.access.identity import Known
from radrag.access.opening import Access
from radrag.assistant.v1 import assistant_pb2, assistant_pb2_grpc
from radrag.knowledge.v1 import knowledge_pb2, knowledge_pb2_grpc
from radrag.retrieval.v1 import retrieval_pb2, retrieval_pb2_grpc

PEOPLE, CURATORS, ADMIN, OURS = "reader curator admin", "curator admin", "admin", "service"
# Written down here a second time, by hand: a changed right must be changed on purpose.
TABLE = {
    "AssistantService/Search": PEOPLE,
    "AssistantService/Prompt": PEOPLE,
    "AssistantService/Generate": PEOPLE,
    "AssistantService/GenerateStream": PEOPLE,
    "AssistantService/SubmitFeedback": PEOPLE,
    "AssistantService/GetInfo": PEOPLE,
    "KnowledgeService/SubmitDocument": CURATORS,
    "KnowledgeService/ListDocuments": CURATORS,
    "KnowledgeService/GetDocument": CURATORS,
    "KnowledgeService/ReviewDocument": CURATORS,
    "KnowledgeService/PublishDocument": CURATORS,
    "KnowledgeService/RetireDocument": CURATORS,
    "KnowledgeService/RetryDocument": CURATORS,
    "KnowledgeService/DeleteDocument": ADMIN,
    "KnowledgeService/WatchJob": CURATORS,
    "KnowledgeService/RecordFeedback": OURS,
    "RetrievalService/Search": OURS,
    "RetrievalService/IndexDocument": OURS,
    "RetrievalService/DeleteDocument": OURS,
    "RetrievalService/RetireDocument": OURS,
    "RetrievalService/ListVersions": OURS,
    "RetrievalService/GetParents": OURS,
    "RetrievalService/Describe": OURS,
    "RetrievalService/CreateGeneration": OURS,
    "RetrievalService/ListGenerations": OURS,
    "RetrievalService/SwitchGeneration": OURS,
    "RetrievalService/DropGeneration": OURS,
}
MODULES: tuple[tuple[ModuleType, ModuleType], ...] = (
    (assistant_pb2, assistant_pb2_grpc),
    (knowledge_pb2, knowledge_pb2_grpc),
    (retrieval_pb2, retrieval_pb2_grpc),
)
REFLECTION = "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
ROLES = ("reader", "curator", "admin", "service", "janitor")
KEYS = {role: made(role) for role in ROLES}
DENIED, UNKNOWN = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED


def methods() -> Iterator[str]:
    """Full names of all RPCs there are, by the contracts themselves."""
    for messages, _ in MODULES:
        for service in messages.DESCRIPTOR.services_by_name.values():
            yield from (f"{service.full_name}/{method.name}" for method in service.methods)


def test_every_rpc_is_in_the_table_and_in_the_rights() -> None:
    """A new RPC is refused to everybody, and fails here, until somebody says who may call it."""
    known = set(methods())
    assert {name.rpartition(".")[2] for name in known} == TABLE.keys()
    assert rights.RIGHTS.keys() == known | {REFLECTION}


async def test_each_role_may_call_what_the_table_says_and_nothing_else(tmp_path: Path) -> None:
    async with doors(tmp_path) as channel:
        for method in methods():
            may = TABLE[method.rpartition(".")[2]].split()
            for role in ROLES:
                code = await called(channel, method, KEYS[role])
                assert code is (grpc.StatusCode.INTERNAL if role in may else DENIED), f"{role}: {method}"


async def test_without_a_credential_no_rpc_can_be_called(tmp_path: Path) -> None:
    async with doors(tmp_path) as channel:
        for method in methods():
            for key in ("", made("reader")):
                assert await called(channel, method, key) is UNKNOWN, method


async def test_a_process_of_ours_does_for_a_reader_only_what_the_reader_may(tmp_path: Path) -> None:
    async with doors(tmp_path) as channel:
        forwarded = (("radrag-subject", "anna"), ("radrag-roles", "reader"))
        for method in methods():
            may = TABLE[method.rpartition(".")[2]].split()
            code = await called(channel, method, KEYS["service"], *forwarded)
            allowed = bool({"reader", "service"} & set(may))
            assert code is (grpc.StatusCode.INTERNAL if allowed else DENIED), method


async def test_an_rpc_that_has_no_right_is_refused_even_to_an_admin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = "radrag.assistant.v1.AssistantService/Search"
    left = {name: roles for name, roles in rights.RIGHTS.items() if name != method}
    monkeypatch.setattr(rights, "RIGHTS", left)
    async with doors(tmp_path) as channel:
        for role in ROLES:
            assert await called(channel, method, KEYS[role]) is DENIED


@asynccontextmanager
async def doors(folder: Path) -> AsyncIterator[aio.Channel]:
    """A server of all three services, none of whose methods does anything: INTERNAL means let in."""
    keys = [{"id": role, "sha256": digest(key), "sub": role, "roles": [role]} for role, key in KEYS.items()]
    (folder / "callers.json").write_text(json.dumps({"keys": keys}))
    async with AsyncExitStack() as until:
        server = await serving.start(
            nothing_of_all, "127.0.0.1:0", access=Access(Known(callers=Callers(folder / "callers.json")))
        )
        until.push_async_callback(server.stop)
        yield await until.enter_async_context(aio.insecure_channel(f"127.0.0.1:{server.port}"))


def nothing_of_all(server: aio.Server) -> None:
    for messages, stubs in MODULES:
        (name,) = messages.DESCRIPTOR.services_by_name
        getattr(stubs, f"add_{name}Servicer_to_server")(getattr(stubs, f"{name}Servicer")(), server)


async def called(channel: aio.Channel, method: str, key: str, *metadata: tuple[str, str]) -> grpc.StatusCode:
    """The status of a call with an empty message."""
    credential = (("authorization", f"Bearer {key}"),) if key else ()
    call = channel.stream_stream(f"/{method}", None, None)
    calls = call(None, metadata=(*credential, *metadata), timeout=30)
    try:
        await calls.write(b"")
        await calls.done_writing()
        async for _ in calls:
            pass
    except (aio.AioRpcError, aio.UsageError):
        pass
    code: grpc.StatusCode = await calls.code()
    return code
