"""Runs jobs: so many at once, each with signs of life, tried again when a part is missing, ended when not."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from ingest.catalogue.states import State
from ingest.jobs_table import MOST_ATTEMPTS, Job, JobTable
from ingest.pipeline import cause_of, reason_of
from radrag import call
from radrag.errors import Overloaded, Unavailable

log = logging.getLogger(__name__)

POLL_SECONDS, BEAT_SECONDS = 1.0, 10.0
LONGEST_PAUSE = 60.0
STAGES = ("load", "parse", "clean", "chunk", "review", "embed", "publish")

Enter = Callable[[str], None]
Work = Callable[[Job, Enter], Awaitable[State]]
"""Does a job, telling each stage it enters; returns the state the version has then."""


class Jobs:
    """Does the jobs of a table, `at_once` at a time. `work` has a function for each kind."""

    def __init__(self, table: JobTable, work: Mapping[str, Work], at_once: int = 2) -> None:
        self.table = table
        self._work, self._at_once = work, at_once
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Says that there is something new to do."""
        self._woken.set()

    async def run(self) -> None:
        """Works until it is cancelled; what is running then is taken over by whoever comes next."""
        with suppress(Unavailable):  # the upkeep tries again
            await self.table.take_over()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_once):
                group.create_task(self._worker())

    async def _worker(self) -> None:
        while True:
            try:
                job = await self.table.claim()
                if job is not None:
                    await self._alive(job)
                    continue
            except Unavailable:  # logged where it arose; the catalogue may come back
                log.warning("no job could be taken")
            self._woken.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)

    async def _alive(self, job: Job) -> None:
        beats = asyncio.create_task(self._beats(job))
        try:
            await self._one(job)
        finally:
            beats.cancel()

    async def _beats(self, job: Job) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(Unavailable):  # logged where it arose; the next beat may be heard
                await self.table.alive(job.job_id)

    async def _one(self, job: Job) -> None:
        try:
            with call.running(call.Call(call.Caller(job.subject))):
                state = await self._work[job.kind](job, self._enter(job))
            await self.table.done(job.job_id, state.value)
        except Exception as error:  # noqa: BLE001  whatever a file does to a parser, the others go on
            await self._ended(job, cause_of(error))

    async def _ended(self, job: Job, error: BaseException) -> None:
        missing = isinstance(error, Unavailable | Overloaded)
        if missing and job.attempts < MOST_ATTEMPTS:
            pause = min(2.0**job.attempts, LONGEST_PAUSE)
            await self.table.later(job.job_id, pause, reason_of(error))
            return
        log.info("job %s of %s failed: %s", job.job_id, job.document_id, type(error).__name__)
        unread = job.kind == "read" and not missing
        await self.table.failed(job.job_id, reason_of(error), State.FAILED.value if unread else "")

    def _enter(self, job: Job) -> Enter:
        entered: set[asyncio.Task[None]] = set()

        def enter(stage: str) -> None:
            progress = STAGES.index(stage) / len(STAGES)
            task = asyncio.create_task(self.table.enter(job.job_id, stage, progress))
            entered.add(task)
            task.add_done_callback(entered.discard)

        return enter
