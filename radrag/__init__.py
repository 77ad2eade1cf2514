"""What every RadRAG process stands on: the typed stubs, errors, settings, serving, telemetry and clients.

For callers: `radrag.Client` and `radrag.AsyncClient` ask, `radrag.Answer` is what `ask` returns.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from radrag.answer import Answer
    from radrag.blocking import Client
    from radrag.client import AsyncClient

__all__ = ["Answer", "AsyncClient", "Client"]
_HOMES = {"Answer": "radrag.answer", "AsyncClient": "radrag.client", "Client": "radrag.blocking"}


def __getattr__(name: str) -> object:
    """Imports a client when it is asked for: most of what imports this package wants something else."""
    if name not in _HOMES:
        raise AttributeError(f"module 'radrag' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)
