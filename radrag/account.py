"""What a call came to: its handler says it, the door counts it and has it written to the audit trail.

A record holds ids, hashes, outcomes and times; texts only where the journal keeps content.
"""

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from radrag import call, telemetry
from radrag.audit.journal import Journal
from radrag.errors import RadragError

log = telemetry.logs.get(__name__)

OK = "OK"


@dataclass(frozen=True)
class Trail:
    """Where records go, if anywhere; `required` fails a call whose record cannot be written."""

    journal: Journal | None = None
    required: bool = False


@dataclass
class Account:
    """One call's. `failure` is set by a stream that ends with an error and the status OK."""

    method: str = ""
    trail: Trail = field(default_factory=Trail)
    outcome: str = ""
    failure: RadragError | None = None
    _said: dict[str, Any] = field(default_factory=dict)
    _began: float = field(default_factory=perf_counter)
    _settled: bool = False

    def note(self, outcome: str = "", documents: Iterable[str] = (), **more: object) -> None:
        """Says more of the call: its outcome, the `document@version`s it is about, hashes by name."""
        self.outcome = outcome or self.outcome
        if documents := sorted(set(documents)):
            self._said["documents"] = documents
        self._said |= more

    def text(self, name: str, text: str) -> None:
        """A text of the call: kept as a keyed hash, and itself where content is kept."""
        journal = self.trail.journal
        if journal:
            self._said[f"{name}_hmac"] = journal.keyed(text)
            if journal.content:
                self._said.setdefault("content", {})[name] = text

    async def settle(self, code: str = OK) -> None:
        """Has the record written, once; returns when it is durable. Raises Unavailable when it must be."""
        written = self.submit(code)
        if written is None:
            return
        try:
            await asyncio.wrap_future(written)
        except RadragError:
            if self.trail.required:
                raise

    def submit(self, code: str) -> "Future[None] | None":
        """Hands the record over without waiting for it; None when it was handed over before."""
        if self._settled or self.trail.journal is None:
            return None
        self._settled = True
        written = self.trail.journal.append(self._record(code))
        written.add_done_callback(_counted)
        return written

    def _record(self, code: str) -> Mapping[str, Any]:
        running = call.current()
        return {
            "request_id": running.request_id,
            "trace_id": telemetry.trace_id(),
            "subject": running.caller.subject,
            "roles": sorted(running.caller.roles),
            "method": self.method,
            "code": self.failure.code.name if self.failure else code,
            "outcome": self.outcome,
            "seconds": round(perf_counter() - self._began, 6),
            **self._said,
        }


_current: ContextVar[Account] = ContextVar("radrag_account")


def enter(account: Account) -> Account:
    """Makes an account the running call's, until its task ends."""
    _current.set(account)
    return account


def current() -> Account:
    """The running call's; outside of one, an account that nobody reads."""
    return _current.get(None) or Account()


def _counted(written: "Future[None]") -> None:
    error = written.exception()
    telemetry.child(telemetry.AUDIT_RECORDS, "failed" if error else "written").inc()
    if error:
        log.error("an audit record could not be written", error=type(error.__cause__ or error).__name__)
