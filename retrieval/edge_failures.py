"""The embedded engine's failures, all of them plain `Exception`, as ours; and what is logged of them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from radrag.errors import Unavailable

log = logging.getLogger(__name__)

# What operators can act on; the rest of the engine's words may quote what it was given.
KINDS = (
    "WouldBlock",
    "No space left",
    "Permission denied",
    "Read-only",
    "No such file",
    "Too many open files",
)


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Raises Unavailable for whatever the engine raises while the store is `what`: opened, written, read."""
    try:
        yield
    except Exception as error:  # the engine raises nothing narrower
        log.error("the store could not be %s: %s", what, _kind(error))
        if "WouldBlock" in str(error):
            raise Unavailable("the index is open in another process", "INDEX_LOCKED") from error
        raise Unavailable(f"the vector store could not be {what}", "STORE_FAILED") from error


def _kind(error: Exception) -> str:
    return next((kind for kind in KINDS if kind in str(error)), type(error).__name__)
