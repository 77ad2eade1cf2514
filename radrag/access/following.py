"""Channels that follow their TLS files: a renewed certificate or CA counts for the next call.

gRPC for Python reads a channel's files once. So the channel is made anew when they have changed; what runs on
the old one may end there.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
from grpc import aio

from radrag.settings import SettingError

T = TypeVar("T")
log = logging.getLogger(__name__)

GRACE_SECONDS = 600.0  # how long a call may go on over the old certificate


@dataclass
class Following(Generic[T]):
    """What `make` made of files, made anew when `stamps` differ; `end` is for the one before, after a while.

    Files that cannot be used, as in the middle of a renewal, leave the last one in force.
    """

    make: Callable[[], T]
    stamps: Callable[[], tuple[int, ...]]
    end: Callable[[T], Awaitable[object]]
    _ending: "set[asyncio.Task[object]]" = field(default_factory=set)

    def __post_init__(self) -> None:
        self._seen, self._one = self.stamps(), self.make()

    def now(self) -> T:
        """The one of the files as they are. Never raises."""
        try:
            if (stamps := self.stamps()) != self._seen:
                self._seen = stamps  # one attempt a change
                before, self._one = self._one, self.make()
                task = asyncio.get_running_loop().create_task(self._end_later(before))
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        except (OSError, SettingError) as error:
            log.error("the TLS files of a channel cannot be used: %s", type(error).__name__)
        return self._one

    async def close(self) -> None:
        """Ends all of them now."""
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)
        await self.end(self._one)

    async def _end_later(self, one: T) -> None:
        try:
            await asyncio.sleep(GRACE_SECONDS)
        finally:
            await self.end(one)


class FollowingChannel(aio.Channel):
    """A channel in whose place another one comes; stubs that were made of it stay."""

    def __init__(self, make: Callable[[], aio.Channel], stamps: Callable[[], tuple[int, ...]]) -> None:
        self._following = Following(make, stamps, lambda channel: channel.close(None))

    async def __aenter__(self) -> "FollowingChannel":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close(None)

    async def close(self, grace: float | None = None) -> None:
        """Closes it, and those before it."""
        await self._following.close()

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """The state of the one in use."""
        return self._following.now().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Of the one in use."""
        await self._following.now().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Of the one in use."""
        await self._following.now().channel_ready()

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Calls go to the one in use when they are made, as with the three below."""
        return self._calls("unary_unary", args, kwargs)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """See unary_unary."""
        return self._calls("unary_stream", args, kwargs)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """See unary_unary."""
        return self._calls("stream_unary", args, kwargs)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """See unary_unary."""
        return self._calls("stream_stream", args, kwargs)

    def _calls(self, kind: str, args: Any, kwargs: Any) -> Callable[..., Any]:
        def call(*said: Any, **more: Any) -> Any:
            return getattr(self._following.now(), kind)(*args, **kwargs)(*said, **more)

        return call


def check_pair(certificate: str, key: str) -> None:
    """Raises OSError (an SSLError is one) when the key is not the certificate's, or one cannot be read."""
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key)
