"""Writes a process's chain from a thread of its own; records that wait together share a write and a sync."""

import hashlib
import hmac
import queue
import threading
import uuid
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from radrag import telemetry
from radrag.audit import chain, heads
from radrag.audit.chain import Link
from radrag.audit.segments import Segments, lines
from radrag.errors import Unavailable

log = telemetry.logs.get(__name__)

SYNCS = ("always", "second", "never")
TOGETHER = 256
Record = Mapping[str, Any]
Item = tuple[Record, "Future[None]"]


@dataclass(frozen=True)
class Plan:
    """Where a chain is and how it is kept.

    `sync`: always (a record is on the disk before its call ends), second (at most one second of records may
    be lost with the machine), never (the system's own pace). A head is signed every `head_every` records and
    at the end. With `content` questions and answers are kept as they are.
    """

    folder: Path
    heads: Path
    key_file: Path
    process: str
    sync: str = "always"
    head_every: int = 100
    content: bool = False
    wait: bool = False


class Journal:
    """An open chain. Raises OSError and ValueError when it cannot be opened."""

    def __init__(self, plan: Plan) -> None:
        self.content = plan.content
        self._plan, self._key = plan, heads.key(plan.key_file)
        self._secret = _secret(self._key)
        heads.publish(self._key, plan.heads)
        self._segments = Segments(plan.folder / plan.process, wait=plan.wait)
        self._state = self._resumed()
        if (
            self._state.link.n == 0 and self._state.unsigned
        ):  # a chain that has no head yet vouches for nothing
            self._sign_or_say()
        self._waiting: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def append(self, record: Record) -> "Future[None]":
        """Adds a record; the future ends when it is as durable as `sync` says, or with Unavailable."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # a caller that leaves takes no record with it
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        self._waiting.put(({"at": at, **record}, done))
        return done

    @property
    def torn(self) -> int:
        """Bytes of an unfinished line that a killed process had left, and that were taken off."""
        return self._segments.torn

    @property
    def _exported(self) -> Path:
        return self._plan.heads / f"{self._plan.process}.jsonl"

    def keyed(self, text: str) -> str:
        """A keyed hash: equal texts can be found, and without the key no text can be guessed."""
        return hmac.digest(self._secret, text.encode(), hashlib.sha256).hex()

    def close(self) -> None:
        """Writes what waits, signs the head and lets go of the chain."""
        self._waiting.put(None)
        self._thread.join()
        try:
            self._segments.sync()
            if self._state.unsigned:
                self._sign()
        finally:
            self._segments.close()

    def _resumed(self) -> "_State":
        last = self._segments.last_line()
        if not last:
            opening = {"chain": uuid.uuid4().hex, "process": self._plan.process, "version": 1}
            line, link = chain.sealed({"at": datetime.now(UTC).isoformat(), **opening}, Link())
            self._segments.append(line, sync=True)
            return _State(str(opening["chain"]), link, 1)
        newest = chain.record_of(last)
        first = chain.record_of(next(lines(self._plan.folder / self._plan.process)))
        n, chain_id = int(newest["n"]), str(first["chain"])
        signed = heads.newest(self._exported, self._key.public_key(), chain_id)
        return _State(chain_id, Link(n, str(newest["hash"])), max(0, n - signed))

    def _run(self) -> None:
        while (first := self._next()) is not None:
            batch, ended = self._batch(first)
            try:
                self._write([record for record, _ in batch])
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
                for _, done in batch:
                    done.set_exception(_unwritten(error))
            else:
                for _, done in batch:
                    done.set_result(None)
            if ended:
                return

    def _next(self) -> Item | None:
        """The next record, None at the end. What is not synced yet is within a second, also if none comes."""
        while self._state.unsynced:
            try:
                return self._waiting.get(timeout=1.0)
            except queue.Empty:
                self._sync_or_say()
        return self._waiting.get()

    def _sync_or_say(self) -> None:
        try:
            self._segments.sync()
            self._state.unsynced = False
        except OSError as error:
            log.error("the audit trail could not be synced", error=type(error).__name__)

    def _batch(self, first: Item) -> tuple[list[Item], bool]:
        batch = [first]
        while len(batch) < TOGETHER:
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return batch, True
            batch.append(item)
        return batch, False

    def _write(self, records: list[Record]) -> None:
        text, link = b"", self._state.link
        for record in records:
            line, link = chain.sealed(record, link)
            text += line
        due = self._due()
        self._segments.append(text, sync=due)
        self._state.unsynced = not due and self._plan.sync == "second"
        self._state.link = link
        self._state.unsigned += len(records)
        if self._state.unsigned >= self._plan.head_every:
            self._sign_or_say()

    def _sign_or_say(self) -> None:
        """The records are kept already: a head that cannot be exported is tried again with the next ones."""
        try:
            self._sign()
        except OSError as error:
            log.error("the head of the audit trail could not be exported", error=type(error).__name__)

    def _due(self) -> bool:
        if self._plan.sync != "second":
            return self._plan.sync == "always"
        due = monotonic() - self._state.synced >= 1.0
        self._state.synced = monotonic() if due else self._state.synced
        return due

    def _sign(self) -> None:
        head = {
            "chain": self._state.chain,
            "process": self._plan.process,
            "n": self._state.link.n,
            "hash": self._state.link.hash,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        heads.export(heads.signed(head, self._key), self._exported)
        self._state.unsigned = 0


@dataclass
class _State:
    chain: str
    link: Link
    unsigned: int
    synced: float = field(default=0.0)
    unsynced: bool = False


def _secret(key: Ed25519PrivateKey) -> bytes:
    raw = key.private_bytes(
        serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
    )
    return hmac.digest(raw, b"radrag audit keyed hashes", hashlib.sha256)


def _unwritten(error: Exception) -> Unavailable:
    failure = Unavailable("the audit record could not be written", "AUDIT_UNAVAILABLE")
    failure.__cause__ = error
    return failure
