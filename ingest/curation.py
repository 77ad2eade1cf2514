"""What happens to catalogue and index both: publish, retire, end, delete. Each can be done again at any time.

An intent is noted first, then the index is told, then the catalogue makes it true. Whoever finds an intent
that nobody finished does it once more, which changes nothing that was done already.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from weakref import WeakValueDictionary

from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import Entry
from ingest.catalogue.force import Term
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act
from ingest.document import Document
from ingest.indexed import Indexed, IndexedVersions
from ingest.publish import Published
from radrag.errors import FailedPrecondition, NotFound

Send = Callable[[Term], Awaitable[Published]]


def today() -> date:
    """The day in UTC, which is what the index goes by."""
    return datetime.now(UTC).date()


class Curation:
    """Acts on a catalogue and the index. `needed` is how many different people must approve a version."""

    def __init__(
        self,
        catalogue: Catalogue,
        indexed: IndexedVersions,
        needed: int = 1,
        today: Callable[[], date] = today,
    ) -> None:
        self.catalogue, self.indexed, self.needed, self.today = catalogue, indexed, needed, today
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def publish(self, entry: Entry, subject: str, send: Send) -> Published:
        """Publishes an approved version; `send` tells the index, with the days in force it is given.

        Raises FailedPrecondition unless it is approved, and what `send` raises; then nothing has changed, or
        the intent says what is left to see to.
        """
        async with self._lock(entry.document_id):
            day = self.today()
            term = await self.catalogue.begin_publishing(entry.number, subject, self.needed, day)
            published = await send(term)
            try:
                await self.catalogue.finish_publishing(entry.number, subject, day)
            except (NotFound, FailedPrecondition):  # deleted or rejected while it was on its way
                await self._take_back(entry)
                raise
        return published

    async def _take_back(self, entry: Entry) -> None:
        if await self.catalogue.gone(entry.number):
            await self.indexed.remove(entry.document_id, entry.version)
            await self.catalogue.forget(intent_to_publish(entry))

    async def retire(self, intent: Intent) -> list[str]:
        """Retires versions, or ends their force on a day. Returns which. Raises as begin_retiring does."""
        async with self._lock(intent.document_id):
            versions = await self.catalogue.begin_retiring(intent)
            await self._retire(intent, versions)
        return versions

    async def _retire(self, intent: Intent, versions: list[str]) -> None:
        for version in versions:
            if intent.act is Act.END and intent.day is not None:
                await self.indexed.end(intent.document_id, version, intent.day)
            else:
                await self.indexed.remove(intent.document_id, version)
        await self.catalogue.finish_retiring(intent, self.today())

    async def delete(self, intent: Intent) -> list[str]:
        """Deletes a version, or a whole document. Returns the versions. Raises NotFound."""
        async with self._lock(intent.document_id):
            await self.catalogue.begin_deleting(intent)
            return await self._delete(intent)

    async def _delete(self, intent: Intent) -> list[str]:
        await self.indexed.remove(intent.document_id, intent.version)
        return await self.catalogue.finish_deleting(intent)

    async def settle(self, until: int | None = None) -> None:
        """Finishes what others began and left: all, or what is older than an instant (microseconds)."""
        begun = await self.catalogue.begun(until)
        if begun:
            live = {one.document.document_id: one for one in await self.indexed.all() if one.live}
            for intent in begun:
                await self.do_again(intent, live)

    async def do_again(self, intent: Intent, live: dict[str, Indexed]) -> None:
        """Finishes what was begun. `live` is the index's last published version by document."""
        async with self._lock(intent.document_id):
            if intent.act is Act.DELETE:
                await self._delete(intent)
            elif intent.act is Act.PUBLISH:
                await self._settle(intent, live.get(intent.document_id))
            else:
                await self._retire_again(intent)

    async def _retire_again(self, intent: Intent) -> None:
        try:
            versions = await self.catalogue.begin_retiring(intent)
        except (NotFound, FailedPrecondition):  # deleted since, or done but for the intent
            await self.catalogue.forget(intent)
        else:
            await self._retire(intent, versions)

    async def _settle(self, intent: Intent, live: Indexed | None) -> None:
        """A publication is true when the index says so; else the version is still approved, and can be."""
        assert intent.number is not None
        if live is not None and live.document.version == intent.version:
            try:
                await self.catalogue.finish_publishing(intent.number, intent.subject, self.today())
            except (NotFound, FailedPrecondition):
                await self.indexed.remove(intent.document_id, intent.version)
        await self.catalogue.forget(intent)

    def _lock(self, document_id: str) -> asyncio.Lock:
        return self._locks.setdefault(document_id, asyncio.Lock())


def intent_to_publish(entry: Entry) -> Intent:
    """The intent a publication of this row leaves."""
    return Intent(Act.PUBLISH, entry.document_id, entry.version, "", number=entry.number)


def in_force(document: Document, first_day: date | None, last_day: date | None) -> Document:
    """The document with the days in force that the index is told."""
    return replace(document, metadata=replace(document.metadata, valid_from=first_day, valid_to=last_day))
