"""The retrieval service, asked for its generations and told to make, switch or drop one."""

from collections.abc import Awaitable
from typing import TypeVar

import grpc
from grpc import aio

from ingest.indexed import CHANGE_SECONDS, terms, translated
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub

T = TypeVar("T")
Generation = wire.ListGenerationsResponse.Generation


class Generations:
    """Every method raises the retrieval service's error, IndexUnavailable when nobody answers."""

    def __init__(self, channel: aio.Channel) -> None:
        self._stub = RetrievalServiceStub(channel)

    async def all(self) -> tuple[list[Generation], int]:
        """All generations, by name, and the revision they are of."""
        reply = await _asked(
            self._stub.ListGenerations(wire.ListGenerationsRequest(), **terms(CHANGE_SECONDS))
        )
        return list(reply.generations), int(reply.revision)

    async def create(self, name: str, fingerprint: wire.Fingerprint) -> None:
        """Makes an empty generation."""
        request = wire.CreateGenerationRequest(generation=name, fingerprint=fingerprint)
        await _asked(self._stub.CreateGeneration(request, **terms(CHANGE_SECONDS)))

    async def switch(self, name: str, if_revision: int | None = None) -> str:
        """Makes a generation the current one; returns the one before."""
        request = wire.SwitchGenerationRequest(generation=name, if_revision=if_revision)
        reply = await _asked(self._stub.SwitchGeneration(request, **terms(CHANGE_SECONDS)))
        return str(reply.previous)

    async def drop(self, name: str) -> None:
        """Removes a generation."""
        request = wire.DropGenerationRequest(generation=name)
        await _asked(self._stub.DropGeneration(request, **terms(CHANGE_SECONDS)))


async def _asked(call: Awaitable[T]) -> T:
    try:
        return await call
    except grpc.RpcError as error:
        raise translated(error) from error
