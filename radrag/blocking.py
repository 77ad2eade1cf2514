"""The client for programs that do not run an event loop: `AsyncClient` on a loop of its own, in a thread."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any, TypeVar

import grpc

from radrag.answer import Answer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient

T = TypeVar("T")


class Client:
    """One connection to a gateway, from any thread; its methods are those of `AsyncClient`, and wait.

        with Client("127.0.0.1:50051") as client:
            print(client.ask("What is the annual dose limit for the lens of the eye?"))

    Raises what `AsyncClient` raises.
    """

    def __init__(
        self,
        address: str,
        deadline: float = 60.0,
        credentials: grpc.ChannelCredentials | None = None,
        credential: str = "",
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="radrag-client", daemon=True)
        self._thread.start()
        try:
            self._client = self._wait(_made(address, deadline, credentials, credential))
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection and cancels what still runs on it."""
        if self._thread.is_alive():
            self._wait(self._client.close())
            self._end()

    def ask(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002  the contract's word
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> Answer:
        """The checked answer, or a typed refusal."""
        return self._wait(self._client.ask(question, filter, limits, deadline))

    def search(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> pb.SearchResponse:
        """The evidence, best first."""
        return self._wait(self._client.search(question, filter, limits, deadline))

    def prompt(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> pb.PromptResponse:
        """The finished prompt for a generator of your own."""
        return self._wait(self._client.prompt(question, filter, limits, deadline))

    def stream(
        self,
        question: str,
        filter: pb.Filter | None = None,  # noqa: A002
        limits: pb.Limits | None = None,
        deadline: float | None = None,
    ) -> Iterator[pb.GenerateStreamResponse]:
        """The frames of an answer as they come; leaving the loop early cancels the work on the server."""
        frames = self._client.stream(question, filter, limits, deadline)
        try:
            while (frame := self._wait(_next(frames))) is not None:
                yield frame
        finally:
            self._wait(frames.aclose())

    def feedback(self, request: pb.SubmitFeedbackRequest, deadline: float | None = None) -> str:
        """The id of the stored rating."""
        return self._wait(self._client.feedback(request, deadline))

    def info(self, deadline: float | None = None) -> pb.GetInfoResponse:
        """Models, topics, limits and index generation behind the service."""
        return self._wait(self._client.info(deadline))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _made(*told: Any) -> AsyncClient:
    """Made on the loop it is used on."""
    return AsyncClient(*told)


async def _next(frames: Any) -> pb.GenerateStreamResponse | None:
    found: pb.GenerateStreamResponse | None = await anext(frames, None)
    return found
