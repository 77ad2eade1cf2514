"""A Qdrant server as far as its protocol goes: it notes what comes over the wire, and holds nothing.

Real gRPC, so that what the client makes of our arguments is seen, not what we gave it.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import aio
from qdrant_client import grpc as wire

Said = dict[str, Any]
DONE = wire.PointsOperationResponse(result=wire.UpdateResult(status=wire.UpdateStatus.Completed))
# Two days old, and older.
MADE = wire.ListSnapshotsResponse(
    snapshot_descriptions=[
        wire.SnapshotDescription(name=name, creation_time=Timestamp(seconds=seconds))
        for name, seconds in (("new", 1_795_900_000), ("old", 1_795_000_000))
    ]
)
# Their methods have the names of others.
SNAPSHOTS: dict[str, Message] = {
    "ListSnapshots": MADE, "CreateSnapshot": wire.CreateSnapshotResponse(),
    "DeleteSnapshot": wire.DeleteSnapshotResponse(),
}  # fmt: skip
# What an empty server says; every other method acknowledges.
REPLIES: dict[str, Message] = {
    "CollectionExists": wire.CollectionExistsResponse(result=wire.CollectionExists(exists=False)),
    "ListAliases": wire.ListAliasesResponse(
        aliases=[wire.AliasDescription(alias_name="radrag_safety", collection_name="radrag_g0_safety")]
    ),
    "Query": wire.QueryResponse(), "Get": wire.GetResponse(), "Scroll": wire.ScrollResponse(),
    "Count": wire.CountResponse(result=wire.CountResult(count=3)),
    "Create": wire.CollectionOperationResponse(result=True),
    "UpdateAliases": wire.CollectionOperationResponse(result=True),
    "List": wire.ListCollectionsResponse(
        collections=[wire.CollectionDescription(name=name) for name in ("another", "radrag_g1_safety")]
    ),
    **dict.fromkeys(("CreateFieldIndex", "Upsert", "Delete", "SetPayload"), DONE),
}  # fmt: skip


@dataclass
class StandIn:
    """A running one: its port, what it was asked and with which API keys."""

    port: int = 0
    asked: list[tuple[str, Said]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def noting(self, method: str) -> Callable[[Message, "aio.ServicerContext[Any, Any]"], Any]:
        """A handler of the method."""

        async def handle(request: Message, context: "aio.ServicerContext[Any, Any]") -> Message:
            said = json_format.MessageToDict(request, preserving_proto_field_name=True)
            self.asked.append((method, said))
            sent = dict(context.invocation_metadata() or ())
            self.keys.append(str(sent.get("api-key", "")))
            return (REPLIES | SNAPSHOTS)[method]

        return handle


@asynccontextmanager
async def running(credentials: grpc.ServerCredentials | None = None) -> AsyncIterator[StandIn]:
    """A stand-in on a free port of this machine."""
    one, server = StandIn(), aio.server()
    points, collections = wire.PointsServicer(), wire.CollectionsServicer()
    for servicer in (points, collections):
        for method in REPLIES.keys() & set(dir(servicer)):
            setattr(servicer, method, one.noting(method))
    snapshots = wire.SnapshotsServicer()
    for method in SNAPSHOTS:
        setattr(snapshots, method.removesuffix("Snapshot").removesuffix("Snapshots"), one.noting(method))
    wire.add_SnapshotsServicer_to_server(snapshots, server)  # type: ignore[no-untyped-call]
    wire.add_PointsServicer_to_server(points, server)  # type: ignore[no-untyped-call]
    wire.add_CollectionsServicer_to_server(collections, server)  # type: ignore[no-untyped-call]
    add = server.add_insecure_port if credentials is None else _secured(server, credentials)
    one.port = add("127.0.0.1:0")
    await server.start()
    try:
        yield one
    finally:
        await server.stop(0)


def _secured(server: aio.Server, credentials: grpc.ServerCredentials) -> Callable[[str], int]:
    return lambda address: server.add_secure_port(address, credentials)
