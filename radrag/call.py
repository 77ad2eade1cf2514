"""One call's context: for whom it runs, until when, and under which id.

The serving interceptor sets it; clients read it to hand caller, id and the time left on to the next process.
Python gRPC passes neither deadline nor metadata on by itself.
"""

import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from radrag.errors import DeadlineExceeded

PUBLIC = "public"
# An id is logged and audited: a caller's own must not be able to carry a text.
AN_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
SUBJECT, ROLES, LABELS, REQUEST_ID = "radrag-subject", "radrag-roles", "radrag-labels", "radrag-request-id"


@dataclass(frozen=True)
class Caller:
    """Who is calling: a subject, its roles, and the labels of the documents it may see."""

    subject: str = "dev"
    roles: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset({PUBLIC})


@dataclass(frozen=True)
class Call:
    """A running call. `deadline` is a `time.monotonic` instant, None when the caller set none."""

    caller: Caller = Caller()
    deadline: float | None = None
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)


_current: ContextVar[Call] = ContextVar("radrag_call")


def current() -> Call:
    """The running call; outside of one, a fresh call of the default caller without a deadline."""
    return _current.get(None) or Call()


@contextmanager
def running(call: Call) -> Iterator[Call]:
    """Makes `call` the current one."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def enter(call: Call) -> None:
    """Makes `call` the current one until its task ends; for handlers that may be closed from elsewhere."""
    _current.set(call)


def time_left(cap: float) -> float:
    """Seconds an outbound call may take: what is left of the caller's deadline, at most `cap`.

    Raises DeadlineExceeded when nothing is left.
    """
    deadline = current().deadline
    left = cap if deadline is None else min(cap, deadline - time.monotonic())
    if left <= 0:
        raise DeadlineExceeded("the deadline passed before this step")
    return left


def from_metadata(metadata: Mapping[str, str], time_remaining: float | None) -> Call:
    """The call that trusted metadata describes."""
    caller = Caller(
        subject=metadata.get(SUBJECT, "dev"),
        roles=_words(metadata.get(ROLES, "")),
        labels=_words(metadata.get(LABELS, "")) | {PUBLIC},
    )
    deadline = None if time_remaining is None else time.monotonic() + time_remaining
    given = metadata.get(REQUEST_ID, "")
    return Call(caller, deadline, given if AN_ID.fullmatch(given) else uuid.uuid4().hex)


def outgoing_metadata() -> tuple[tuple[str, str], ...]:
    """What the next process needs to run the same call for the same caller."""
    call = current()
    return (
        (SUBJECT, call.caller.subject),
        (ROLES, ",".join(sorted(call.caller.roles))),
        (LABELS, ",".join(sorted(call.caller.labels))),
        (REQUEST_ID, call.request_id),
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())
