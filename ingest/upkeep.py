"""What is due without anybody asking: last days that passed, silent jobs, things begun and never finished."""

import asyncio
import logging
import time

from ingest.catalogue.history import now
from ingest.catalogue.states import State
from ingest.curation import Curation
from ingest.jobs_table import SECOND, JobTable
from ingest.service_uploads import Uploads
from radrag import telemetry
from radrag.errors import RadragError

log = logging.getLogger(__name__)

COUNT_SECONDS, LOOK_SECONDS = 15.0, 60.0
AHEAD_DAYS = (7, 30, 90)
UNFINISHED_SECONDS = (
    60  # what is begun and older than this, nobody is doing any more, or doing it twice is right
)


class Upkeep:
    """Looks after a catalogue while its service runs."""

    def __init__(self, curation: Curation, jobs: JobTable, uploads: Uploads) -> None:
        self._curation, self._jobs, self._uploads = curation, jobs, uploads

    async def run(self) -> None:
        """Counts every 15 seconds and sees to the rest every minute, until it is cancelled."""
        looked = float("-inf")
        while True:
            try:
                await self.count()
                if time.monotonic() - looked >= LOOK_SECONDS:
                    looked = time.monotonic()
                    await self.look()
            except RadragError as error:  # the next time it may be there again
                log.warning("the catalogue's upkeep has to wait: %s", error.reason)
            await asyncio.sleep(COUNT_SECONDS)

    async def count(self) -> None:
        """Sets the gauge of versions by state."""
        counts = (await self._curation.catalogue.counts())["state"]
        for state in State:
            if state is not State.DELETED:
                telemetry.DOCUMENTS.labels(state.value).set(counts.get(state.value, 0))

    async def warn_of_last_days(self) -> None:
        """Sets the gauge of published documents that will not be in force much longer."""
        published = await self._curation.catalogue.all_in([State.PUBLISHED])
        left = [(one.last_day - self._curation.today()).days for one in published if one.last_day]
        for days in AHEAD_DAYS:
            telemetry.DOCUMENTS_EXPIRING.labels(str(days)).set(sum(one <= days for one in left))

    async def look(self) -> None:
        """Does what is due."""
        catalogue = self._curation.catalogue
        await self.warn_of_last_days()
        await self._jobs.take_over()
        await catalogue.expire_due(self._curation.today())
        await self._uploads.sweep(await self._jobs.pending())
        await self._curation.settle(until=now() - UNFINISHED_SECONDS * SECOND)
