"""The client SDK: RadRAG's public service as typed async calls; it needs the base install only.

Failures are the classes of `radrag.errors`. It asks and it reads; it decides nothing about what it reads.
"""

import json
from collections.abc import AsyncGenerator, Awaitable
from types import TracebackType
from typing import TypeVar

import grpc
from grpc import aio

from radrag import call, errors
from radrag.answer import Answer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

T = TypeVar("T")

# Only calls that cost the server little are tried again, and only when nothing answered at all. A gateway
# that stops cancels what had come and it had not begun: that is tried again whatever it costs, elsewhere.
TRIED_AGAIN = {
    "Search": ["UNAVAILABLE", "CANCELLED"], "GetInfo": ["UNAVAILABLE", "CANCELLED"],
    "Prompt": ["CANCELLED"], "Generate": ["CANCELLED"], "GenerateStream": ["CANCELLED"],
}  # fmt: skip
RETRIES = {
    "methodConfig": [
        {
            "name": [{"service": "radrag.assistant.v1.AssistantService", "method": method}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": codes,
            },
        }
        for method, codes in TRIED_AGAIN.items()
    ],
    # An address may name several gateways: dns:///gateway.example:50051.
    "loadBalancingConfig": [{"round_robin": {}}],
    "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.2},
}
OPTIONS: list[tuple[str, int | str]] = [
    ("grpc.service_config", json.dumps(RETRIES)),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.initial_reconnect_backoff_ms", 200),  # a restarted gateway is found again before the next one goes
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
]


class AsyncClient:
    """One connection to a gateway, for any number of calls at once.

        async with AsyncClient("127.0.0.1:50051") as client:
            reply = await client.generate("What is the annual dose limit for the lens of the eye?")

    `deadline` is how many seconds a call may take; a call's own `deadline` takes its place. Inside a running
    `radrag.call` a call never takes longer than what is left of that one, and goes out for the same caller.

    `credential` is an API key or token, shown with every call; it goes out over TLS (`credentials`) or to
    this machine only, else ValueError, as for one that is not of printable ASCII.

    Every call raises InvalidArgument, Overloaded, DeadlineExceeded, Unavailable or another RadragError.
    """

    def __init__(
        self,
        address: str,
        deadline: float = 60.0,
        credentials: grpc.ChannelCredentials | None = None,
        credential: str = "",
    ) -> None:
        if credential and not credentials and not call.on_loopback(address):
            raise ValueError("a credential is not sent in plaintext: give channel credentials too")
        if not (credential.isascii() and credential.isprintable()):  # gRPC would say so in its own log only
            raise ValueError("a credential must be of printable ASCII")
        self._channel = (
            aio.secure_channel(address, credentials, options=OPTIONS)
            if credentials
            else aio.insecure_channel(address, options=OPTIONS)
        )
        self._stub = AssistantServiceStub(self._channel)
        self._deadline = deadline
        self._shown = ((call.AUTHORIZATION, f"Bearer {credential}"),) if credential else ()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection and cancels the calls still running on it."""
        await self._channel.close(None)

    async def search(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002  the contract's word
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> pb.SearchResponse:
        """The evidence for a question of 1 to 2,000 characters, best first. Its outcome is advice."""
        request = pb.SearchRequest(question=_text(question), filter=filter, limits=limits)
        return await _reply(self._stub.Search(request, **self._terms(deadline)))

    async def prompt(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> pb.PromptResponse:
        """The finished prompt for a generator of your own; empty unless the question is worth asking one."""
        request = pb.PromptRequest(question=_text(question), filter=filter, limits=limits)
        return await _reply(self._stub.Prompt(request, **self._terms(deadline)))

    async def generate(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> pb.GenerateResponse:
        """The checked answer, or a typed refusal: branch on `outcome`."""
        request = pb.GenerateRequest(question=_text(question), filter=filter, limits=limits)
        return await _reply(self._stub.Generate(request, **self._terms(deadline)))

    async def ask(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> Answer:
        """The same answer for people: it prints well, and notebooks show it with its citations."""
        return Answer(await self.generate(question, filter, limits, deadline))

    async def stream(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> AsyncGenerator[pb.GenerateStreamResponse, None]:
        """The frames of an answer: sources, then text, then one finish.

        A failure after the first frame is `finish.error`, not an exception. Closing the iterator early
        (`contextlib.aclosing`) cancels the work on the server.
        """
        request = pb.GenerateStreamRequest(question=_text(question), filter=filter, limits=limits)
        frames = self._stub.GenerateStream(request, **self._terms(deadline))
        try:
            async for frame in frames:
                yield frame
        except aio.AioRpcError as error:
            raise errors.from_rpc(error) from None
        finally:
            frames.cancel()  # leaving the loop alone would let the generator run on

    async def feedback(self, request: pb.SubmitFeedbackRequest, deadline: float | None = None) -> str:
        """The id of the stored rating."""
        reply: pb.SubmitFeedbackResponse
        reply = await _reply(self._stub.SubmitFeedback(request, **self._terms(deadline)))
        return reply.feedback_id

    async def info(self, deadline: float | None = None) -> pb.GetInfoResponse:
        """Models, topics, limits and index generation behind the service."""
        return await _reply(self._stub.GetInfo(pb.GetInfoRequest(), **self._terms(deadline)))

    def _terms(self, deadline: float | None) -> "dict[str, object]":
        seconds = self._deadline if deadline is None else deadline
        metadata = (*call.outgoing_metadata(), *self._shown)
        return {"timeout": call.time_left(seconds), "metadata": metadata}


def _text(question: str) -> str:
    """The question, if it can be sent: bytes that were no text leave lone surrogates in a str."""
    try:
        question.encode()
    except UnicodeEncodeError:
        raise errors.InvalidArgument("question", "must be UTF-8 text") from None
    return question


async def _reply(answer: Awaitable[T]) -> T:
    try:
        return await answer
    except aio.AioRpcError as error:
        # Without a cause: the foreign exception's text repeats metadata of the peer.
        raise errors.from_rpc(error) from None
