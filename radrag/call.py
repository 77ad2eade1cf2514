"""One call's context: for whom it runs, until when, and under which id.

The serving interceptor sets it; clients read it to hand caller, id and the time left on to the next process.
Python gRPC passes neither deadline nor metadata on by itself.
"""

import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from radrag.errors import DeadlineExceeded

PUBLIC = "public"
ANY = "*"  # every topic
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# An id is logged and audited: a caller's own must not be able to carry a text.
AN_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
SUBJECT, ROLES, LABELS, REQUEST_ID = "radrag-subject", "radrag-roles", "radrag-labels", "radrag-request-id"
TOPICS, AUTHORIZATION = "radrag-topics", "authorization"


@dataclass(frozen=True)
class Caller:
    """Who is calling: a subject, its roles, and the labels and topics of the documents it may see."""

    subject: str = "dev"
    roles: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset({PUBLIC})
    topics: frozenset[str] = frozenset({ANY})

    def has_topic(self, topic: str) -> bool:
        """Whether documents of a topic are this caller's to see."""
        return ANY in self.topics or topic in self.topics

    def sees(self, topic: str, labels: Iterable[str]) -> bool:
        """Whether a document of this topic with these labels is."""
        return self.has_topic(topic) and not self.labels.isdisjoint(labels)


@dataclass(frozen=True)
class Call:
    """A running call. `deadline` is a `time.monotonic` instant, None when the caller set none.

    `via` is the service that hands the call on for its caller; empty when the caller calls itself.
    """

    caller: Caller = Caller()
    deadline: float | None = None
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    via: str = ""

    def until(self, deadline: float) -> "Call":
        """The same with another deadline."""
        return Call(self.caller, deadline, self.request_id, self.via)


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
    """The call that trusted metadata describes. Who may be trusted is for `radrag.access` to say."""
    caller = Caller(
        subject=metadata.get(SUBJECT, "dev"),
        roles=words(metadata.get(ROLES, "")),
        labels=words(metadata.get(LABELS, "")) | {PUBLIC},
        topics=words(metadata.get(TOPICS, ANY)),
    )
    return of(caller, metadata, time_remaining)


def of(caller: Caller, metadata: Mapping[str, str], time_remaining: float | None) -> Call:
    """A call of this caller; only id and deadline are taken from what came with it."""
    deadline = None if time_remaining is None else time.monotonic() + time_remaining
    given = metadata.get(REQUEST_ID, "")
    return Call(caller, deadline, given if AN_ID.fullmatch(given) else uuid.uuid4().hex)


def outgoing_metadata() -> tuple[tuple[str, str], ...]:
    """What the next process needs to run the same call for the same caller, and to trust this one."""
    call, credential = current(), _shown.credential()
    told = (
        (SUBJECT, call.caller.subject),
        (ROLES, ",".join(sorted(call.caller.roles))),
        (LABELS, ",".join(sorted(call.caller.labels))),
        (TOPICS, ",".join(sorted(call.caller.topics))),
        (REQUEST_ID, call.request_id),
    )
    return (*told, (AUTHORIZATION, f"Bearer {credential}")) if credential else told


@dataclass
class _Shown:
    """How this process says who it is to the next one, beside its certificate."""

    credential: Callable[[], str] = lambda: ""


_shown = _Shown()


def show(credential: Callable[[], str]) -> None:
    """Sends the key or token that `credential` returns with every call to another service of ours."""
    _shown.credential = credential


def on_loopback(address: str) -> bool:
    """Whether host:port can be reached from this machine only."""
    host = address.rpartition(":")[0].strip("[]")
    return host in LOOPBACK or host.startswith("127.")


def words(text: str) -> frozenset[str]:
    """The words of a comma-separated list."""
    return frozenset(word.strip() for word in text.split(",") if word.strip())
