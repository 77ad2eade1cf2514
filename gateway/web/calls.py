"""Calls an RPC for an HTTP request: its credential, trace, id and deadline go along, nothing else does."""

import re
import uuid
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

from google.protobuf.message import Message
from grpc import aio

from gateway.web.routes import Rpc
from radrag import call, errors
from radrag.errors import InvalidArgument, Unauthenticated, Unavailable

DEADLINE = 60.0  # seconds, where the caller sets none
LONGEST = 600.0
# gRPC's own form of the header: at most 8 digits and a unit.
A_TIMEOUT = re.compile(r"(\d{1,8})([HMSmun])")
UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
TOLD = (call.AUTHORIZATION, "traceparent", "tracestate")
MOST_CHARACTERS = 8192


@dataclass(frozen=True)
class Terms:
    """Under which a call runs: its id, its metadata, and the seconds it may take."""

    request_id: str
    metadata: tuple[tuple[str, str], ...]
    seconds: float


@dataclass(frozen=True)
class Services:
    """The services by name.

    Without `anonymous` a call that shows no credential is refused before it is made: on its way it would pass
    for this process, whose own certificate it travels with.
    """

    channels: Mapping[str, aio.Channel]
    anonymous: bool = False

    async def unary(self, rpc: Rpc, request: Message, terms: Terms) -> Message:
        """The reply. Raises RadragError."""
        ask = self._channel(rpc, terms).unary_unary(
            rpc.path, lambda sent: sent.SerializeToString(), rpc.reply.FromString
        )
        try:
            reply: Message = await ask(request, timeout=terms.seconds, metadata=terms.metadata)
        except aio.AioRpcError as error:
            raise errors.from_rpc(error) from None
        return reply

    async def stream(self, rpc: Rpc, request: Message, terms: Terms) -> AsyncGenerator[Message, None]:
        """The frames. Raises RadragError; closing it cancels the call."""
        ask = self._channel(rpc, terms).unary_stream(
            rpc.path, lambda sent: sent.SerializeToString(), rpc.reply.FromString
        )
        frames = ask(request, timeout=terms.seconds, metadata=terms.metadata)
        try:
            async for frame in frames:
                yield frame
        except aio.AioRpcError as error:
            raise errors.from_rpc(error) from None
        finally:
            frames.cancel()

    def known(self, rpc: Rpc, terms: Terms) -> None:
        """Whether the call can be made at all, before its body is read. Raises RadragError."""
        self._channel(rpc, terms)

    def _channel(self, rpc: Rpc, terms: Terms) -> aio.Channel:
        if not self.anonymous and call.AUTHORIZATION not in dict(terms.metadata):
            raise Unauthenticated("a token or a key is required: Authorization: Bearer …", "NO_CREDENTIAL")
        if rpc.service not in self.channels:
            raise Unavailable("this gateway has no ingest service", "INGEST_UNAVAILABLE")
        return self.channels[rpc.service]


def request_id(headers: Mapping[str, str]) -> str:
    """The caller's X-Request-Id where it has the form of one, else a new id."""
    given = headers.get("x-request-id", "")
    return given if call.AN_ID.fullmatch(given) else uuid.uuid4().hex


def terms(headers: Mapping[str, str], request_id: str) -> Terms:
    """The terms that the headers set. Raises InvalidArgument."""
    told = [(name, headers[name]) for name in TOLD if name in headers]
    for name, value in told:
        if len(value) > MOST_CHARACTERS or not (value.isascii() and value.isprintable()):
            raise InvalidArgument(name, f"at most {MOST_CHARACTERS:,} visible ASCII characters")
    return Terms(request_id, ((call.REQUEST_ID, request_id), *told), seconds(headers.get("grpc-timeout", "")))


def seconds(timeout: str) -> float:
    """What a `grpc-timeout` such as 500m or 30S comes to, at most 600 s. Raises InvalidArgument."""
    if not timeout:
        return DEADLINE
    form = A_TIMEOUT.fullmatch(timeout)
    found = int(form[1]) * UNITS[form[2]] if form else 0.0
    if not 0 < found <= LONGEST:
        raise InvalidArgument("grpc-timeout", "digits and a unit (H M S m u n), above 0 and at most 10M")
    return found
