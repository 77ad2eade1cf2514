"""Bytes that are no message of their method: the caller's fault, not ours, so the door must see them.

Left alone, gRPC would call them INTERNAL before any code of ours runs.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any

from google.protobuf.message import DecodeError

from radrag.errors import InvalidArgument


class Unreadable:
    """Stands for a message that could not be read."""


def careful(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """The deserializer, with Unreadable in place of its DecodeError."""
    if deserialize is None:
        return None

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            return Unreadable()

    return read


def readable(request: Any) -> Any:
    """The message, or the stream of them. Raises InvalidArgument for what could not be read."""
    if isinstance(request, Unreadable):
        raise InvalidArgument("request", "is not a message of this method")
    return _stream(request) if hasattr(request, "__anext__") else request


async def _stream(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield readable(request)
