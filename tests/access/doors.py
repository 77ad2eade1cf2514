"""An assistant that answers with who called it, behind a door of the test's choice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from grpc import aio

from radrag import call, serving
from radrag.access import channels
from radrag.access.channels import Files
from radrag.access.opening import Access
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1 import assistant_pb2_grpc as wire
from radrag.errors import RadragError, from_rpc


class Mirror(wire.AssistantServiceServicer):
    """Its version is the caller, its topics are the caller's."""

    async def GetInfo(self, request: pb.GetInfoRequest, context: object) -> pb.GetInfoResponse:  # noqa: N802
        now = call.current()
        return pb.GetInfoResponse(
            version=f"{now.caller.subject}|{','.join(sorted(now.caller.roles))}|{now.via}",
            topics=sorted(now.caller.topics),
        )


@asynccontextmanager
async def behind(access: Access) -> AsyncIterator[str]:
    """The address of a running mirror."""
    server = await serving.start(
        lambda one: wire.add_AssistantServiceServicer_to_server(Mirror(), one), "127.0.0.1:0", access=access
    )
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        await server.stop()


async def asked(
    address: str, credential: str = "", tls: Files | None = None, **metadata: str
) -> pb.GetInfoResponse | RadragError:
    """What the mirror says, or why it does not."""
    sent = [(name.replace("_", "-"), value) for name, value in metadata.items()]
    if credential:
        sent.append(("authorization", credential))
    async with channels.channel(address, tls) as channel:
        try:
            reply: pb.GetInfoResponse = await wire.AssistantServiceStub(channel).GetInfo(
                pb.GetInfoRequest(), metadata=sent, timeout=10
            )
        except aio.AioRpcError as error:
            return from_rpc(error)
    return reply


async def seen(address: str, credential: str = "", tls: Files | None = None, **metadata: str) -> str:
    """The caller as the mirror saw it, or the reason of the refusal."""
    reply = await asked(address, credential, tls, **metadata)
    return reply.reason if isinstance(reply, RadragError) else reply.version
