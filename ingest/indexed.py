"""What the index holds of every version, and the two ways in which one goes out of it: ended, or removed."""

from dataclasses import dataclass
from datetime import date

import grpc
from grpc import aio

from radrag import call, errors
from radrag.access import channels
from radrag.errors import RadragError
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub

EPOCH = date(1970, 1, 1)
# A page of versions, each with its labels, or a long description, may be larger than gRPC's 4 MB.
OPTIONS = [("grpc.max_receive_message_length", 64 * 1024 * 1024)]
LIST_SECONDS, CHANGE_SECONDS = 60.0, 60.0


@dataclass(frozen=True)
class Indexed:
    """A version in the index; `live` is the last published one of its document."""

    document: wire.Document
    live: bool

    @property
    def last_day(self) -> date | None:
        """The first day on which it is no longer in force."""
        return day_of(self.document.valid_to) if self.document.HasField("valid_to") else None


class IndexedVersions:
    """The retrieval service, asked for all versions and told to end or remove some."""

    def __init__(self, channel: aio.Channel) -> None:
        self._stub = RetrievalServiceStub(channel)

    async def all(self, generation: str = "") -> list[Indexed]:
        """Every version of a generation, the current one without a name, whoever may see it.

        Raises IndexUnavailable when nobody answers.
        """
        request = wire.ListVersionsRequest(generation=generation)
        replies = self._stub.ListVersions(request, **terms(LIST_SECONDS))
        try:
            return [Indexed(one.document, one.live) async for reply in replies for one in reply.versions]
        except grpc.RpcError as error:
            raise translated(error) from error

    async def end(self, document_id: str, version: str, day: date) -> None:
        """Sets a version's first day out of force; does nothing where there is none."""
        request = wire.RetireDocumentRequest(
            document_id=document_id, version=version, valid_to=number_of(day)
        )
        try:
            await self._stub.RetireDocument(request, **terms(CHANGE_SECONDS))
        except grpc.RpcError as error:
            raise translated(error) from error

    async def remove(self, document_id: str, version: str = "", generation: str = "") -> None:
        """Removes a version, or all without one, from a generation, or from all without one."""
        request = wire.DeleteDocumentRequest(document_id=document_id, version=version, generation=generation)
        try:
            await self._stub.DeleteDocument(request, **terms(CHANGE_SECONDS))
        except grpc.RpcError as error:
            raise translated(error) from error


def terms(seconds: float) -> dict[str, object]:
    """Deadline and metadata of an outbound call."""
    return {"timeout": call.time_left(seconds), "metadata": call.outgoing_metadata()}


def day_of(number: int) -> date:
    """The day `number` days after 1970-01-01."""
    return date.fromordinal(EPOCH.toordinal() + number)


def number_of(day: date) -> int:
    """The days from 1970-01-01 to `day`."""
    return (day - EPOCH).days


def translated(error: grpc.RpcError) -> RadragError:
    """The error behind a failed call to the retrieval service."""
    found = channels.failure(error)
    unreachable = type(found) is errors.Unavailable and found.reason == "UNAVAILABLE"
    return errors.IndexUnavailable() if unreachable else found
