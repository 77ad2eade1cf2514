"""Jobs as rows: asked for once, claimed by one worker, alive as long as their owner gives signs of life."""

import hashlib
import json
import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from ingest.catalogue.database import Database
from ingest.catalogue.entry import Row
from ingest.catalogue.history import now
from ingest.catalogue.tables import jobs
from radrag.errors import NotFound

Kind = Literal["read", "publish"]
SECOND = 1_000_000  # the table counts microseconds
MOST_ATTEMPTS = 5
STALE_SECONDS = 60.0
JOB_UNKNOWN = "the job is unknown, or its document was deleted"


@dataclass(frozen=True)
class Asked:
    """What is to be done. `content` says to what exactly: a file's sha256, or a version."""

    kind: Kind
    document_id: str
    version: str
    subject: str
    content: str
    config: str
    given: Mapping[str, object]

    @property
    def key(self) -> str:
        """The same for the same work with the same settings."""
        parts = [self.kind, self.document_id, self.version, self.content, self.config]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Job:
    """A job as it stands. `status` is queued, running, done or failed; `state` the version's, in the end."""

    job_id: str
    key: str
    kind: str
    document_id: str
    version: str
    subject: str
    given: Mapping[str, object]
    status: str
    stage: str
    progress: float
    state: str
    error: str
    attempts: int

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in {"done", "failed"}


FRESH = {
    "status": "queued",
    "stage": "",
    "progress": 0.0,
    "state": "",
    "error": "",
    "attempts": 0,
    "owner": "",
    "beat": 0,
}


class JobTable:
    """The jobs of a catalogue's database."""

    def __init__(self, data: Database, owner: str = "") -> None:
        self._data, self._owner = data, owner or owner_of(os.getpid())

    async def ask(self, asked: Asked) -> Job:
        """The job for this work: the one that waits or runs, else one that starts now, anew."""
        return await self._data.write(lambda c: _ask(c, asked))

    async def get(self, job_id: str) -> Job:
        """One job. Raises NotFound."""
        return await self._data.read(lambda c: _get(c, job_id))

    async def last_read(self, document_id: str) -> Job | None:
        """The job that read a document, if one did."""
        mine = (jobs.c.document_id == document_id) & (jobs.c.kind == "read")
        chosen = sql.select(jobs).where(mine).order_by(jobs.c.beat.desc()).limit(1)
        rows = await self._data.read(lambda c: c.execute(chosen).all())
        return _job(rows[0]) if rows else None

    async def again(self, job_id: str) -> Job:
        """Queues a job that ended once more. Raises NotFound."""
        return await self._data.write(lambda c: _again(c, job_id))

    async def claim(self) -> Job | None:
        """The next job that is due, now ours; None when none is."""
        return await self._data.write(lambda c: _claim(c, self._owner))

    async def enter(self, job_id: str, stage: str, progress: float) -> None:
        """Notes how far a job is; a sign of life too."""
        await self._set(job_id, stage=stage, progress=progress, beat=now())

    async def alive(self, job_id: str) -> None:
        """Gives a sign of life."""
        await self._set(job_id, beat=now())

    async def done(self, job_id: str, state: str) -> None:
        """Ends a job; its version is in this state now."""
        await self._set(job_id, status="done", state=state, progress=1.0, error="", beat=now())

    async def failed(self, job_id: str, error: str, state: str = "") -> None:
        """Ends a job that could not do its work."""
        await self._set(job_id, status="failed", state=state, error=error, beat=now())

    async def later(self, job_id: str, seconds: float, error: str) -> None:
        """Puts a job back for some seconds: what it needs is missing."""
        due = now() + int(seconds * SECOND)
        await self._set(job_id, status="queued", owner="", error=error, beat=due)

    async def take_over(self) -> int:
        """Queues jobs whose owner is gone again; after five tries they failed. Returns how many."""
        return await self._data.write(_take_over)

    async def pending(self) -> set[str]:
        """The keys of the jobs that are not done: those that failed may be asked for again."""
        chosen = sql.select(jobs.c.key).where(jobs.c.status != "done")
        return await self._data.read(lambda c: set(c.execute(chosen).scalars()))

    async def _set(self, job_id: str, **values: object) -> None:
        mine = (jobs.c.job_id == job_id) & (jobs.c.owner == self._owner)
        await self._data.write(lambda c: c.execute(jobs.update().where(mine).values(values)))


def owner_of(pid: int) -> str:
    """This machine, a process on it, and when that started: a pid alone is given out again."""
    return f"{socket.gethostname()} {pid} {_started(pid)}"


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _gone(owner: str) -> bool:
    """Whether an owner on this machine has ended for certain."""
    host, pid, started = owner.split(" ") if owner.count(" ") == 2 else ("", "0", "")
    return host == socket.gethostname() and _started(int(pid)) != started


def _ask(connection: Connection, asked: Asked) -> Job:
    row = connection.execute(sql.select(jobs).where(jobs.c.key == asked.key).with_for_update()).first()
    if row is not None:
        return _job(row) if row.status in {"queued", "running"} else _again(connection, row.job_id)
    job_id = uuid.uuid4().hex
    named = {name: getattr(asked, name) for name in ("key", "kind", "document_id", "version", "subject")}
    values = {**FRESH, **named, "given": dict(asked.given), "job_id": job_id, "beat": now()}
    connection.execute(jobs.insert().values(values))
    return _get(connection, job_id)


def _again(connection: Connection, job_id: str) -> Job:
    values = {**FRESH, "beat": now()}
    connection.execute(jobs.update().where(jobs.c.job_id == job_id).values(values))
    return _get(connection, job_id)


def _get(connection: Connection, job_id: str) -> Job:
    row = connection.execute(sql.select(jobs).where(jobs.c.job_id == job_id)).first()
    if row is None:
        raise NotFound(JOB_UNKNOWN)
    return _job(row)


def _claim(connection: Connection, owner: str) -> Job | None:
    due = (jobs.c.status == "queued") & (jobs.c.beat <= now())
    chosen = sql.select(jobs).where(due).order_by(jobs.c.beat).limit(1)
    row = connection.execute(chosen.with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    values = {"status": "running", "owner": owner, "attempts": row.attempts + 1, "beat": now()}
    connection.execute(jobs.update().where(jobs.c.job_id == row.job_id).values(values))
    return _get(connection, row.job_id)


def _take_over(connection: Connection) -> int:
    running = connection.execute(sql.select(jobs).where(jobs.c.status == "running").with_for_update()).all()
    silent = now() - STALE_SECONDS * SECOND
    stale = [row for row in running if row.beat < silent or _gone(row.owner)]
    for row in stale:
        spent = row.attempts >= MOST_ATTEMPTS
        values = {"status": "failed" if spent else "queued", "owner": "", "beat": now()}
        if spent:
            values["error"] = f"it did not come to an end in {MOST_ATTEMPTS} tries"
        connection.execute(jobs.update().where(jobs.c.job_id == row.job_id).values(values))
    return len(stale)


def _job(row: Row) -> Job:
    return Job(**{name: getattr(row, name) for name in Job.__dataclass_fields__})
