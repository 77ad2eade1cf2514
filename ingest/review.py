"""Fail-closed review of a batch: a version read goes on only when people approved that very version."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ingest.catalogue import minhash
from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import Entry, ranges_of
from ingest.catalogue.states import State
from ingest.document import Document
from ingest.passage import Parent

CLOSED = (State.REJECTED, State.RETIRED, State.EXPIRED)
APPROVED = (State.APPROVED, State.PUBLISHED)


@dataclass(frozen=True)
class Verdict:
    """Who approved a version; nobody: it waits, or was decided against, which `withheld` says."""

    entry: Entry
    approvers: str = ""
    withheld: str = ""


Review = Callable[[Document, Sequence[Parent]], Awaitable[Verdict]]


@dataclass(frozen=True)
class Desk:
    """Takes versions into the catalogue for `subject`, who approves them at once when `approves`.

    `needed` is how many different people must approve.
    """

    catalogue: Catalogue
    subject: str
    approves: bool = False
    needed: int = 1

    async def review(self, document: Document, parents: Sequence[Parent]) -> Verdict:
        """Whether a version may be published. Raises InvalidArgument for the text of another document."""
        signed = await asyncio.to_thread(minhash.signature, document.text)
        taken = (document, ranges_of(parents), signed, self.subject)
        if self.approves:
            entry = await self.catalogue.take_in_approved(*taken, self.needed)
        else:
            entry = await self.catalogue.take_in(*taken)
        if entry.state in CLOSED:
            again = f"radrag kb retry {entry.document_id} --version {entry.version}"
            return Verdict(
                entry, withheld=f"this version is {entry.state.value}; to review it again: {again}"
            )
        return Verdict(entry, entry.approved_by if entry.state in APPROVED else "")
