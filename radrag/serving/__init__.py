"""A gRPC server the way every RadRAG process runs one: access, errors, metrics, health, slow stop."""

from radrag.serving.door import Door
from radrag.serving.server import (
    MESSAGE_BYTES,
    NOT_SERVING,
    OPTIONS,
    SERVING,
    Server,
    start,
    until_stopped,
)

__all__ = [
    "MESSAGE_BYTES",
    "NOT_SERVING",
    "OPTIONS",
    "SERVING",
    "Door",
    "Server",
    "start",
    "until_stopped",
]
