"""Compares catalogue and index, says what differs, and repairs it: the catalogue decides.

Comparing is pure. Repairing does what was begun, takes out what nobody approved, puts back what is missing.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.catalogue.entry import Entry
from ingest.catalogue.history import ITSELF
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import SEARCHABLE, State
from ingest.curation import Curation, intent_to_publish
from ingest.indexed import Indexed

Kind = Literal["unfinished", "unapproved", "unrecorded", "missing", "not_live", "other_day", "lost_history"]
ALL = tuple(State)
HELD = SEARCHABLE | {State.APPROVED}
Key = tuple[str, str]
MEANING: dict[Kind, str] = {
    "unfinished": "begun and not finished",
    "unapproved": "in the index, but not approved in the catalogue",
    "unrecorded": "published in the index, but only approved in the catalogue",
    "missing": "published in the catalogue, but not in the index",
    "not_live": "published in the catalogue, but another version is live in the index",
    "other_day": "its last day in the index is another one",
    "lost_history": "replaced or expired in the catalogue, and no longer in the index",
}
PUBLISHED_AGAIN: frozenset[Kind] = frozenset({"missing", "not_live"})


@dataclass(frozen=True)
class Difference:
    """One thing in which catalogue and index differ."""

    kind: Kind
    document_id: str
    version: str
    entry: Entry | None = None
    intent: Intent | None = None


Publish = Callable[[Entry], Awaitable[None]]
"""Publishes a version again, from the catalogue's text."""


def differences(
    entries: Iterable[Entry], indexed: Sequence[Indexed], begun: Iterable[Intent]
) -> list[Difference]:
    """All differences, by document. What was begun hides what follows from it."""
    found = [Difference("unfinished", one.document_id, one.version, intent=one) for one in begun]
    busy = {one.document_id for one in found}
    known = by_version(entries)
    held: dict[Key, Indexed] = {(one.document.document_id, one.document.version): one for one in indexed}
    for key in sorted(known.keys() | held.keys()):
        if key[0] in busy:
            continue
        kind = compared(known.get(key), held.get(key))
        if kind is not None:
            found.append(Difference(kind, *key, entry=known.get(key)))
    return found


def by_version(entries: Iterable[Entry]) -> dict[Key, Entry]:
    """For each version the row that the index should show: one that is searchable before one that waits."""
    chosen: dict[Key, Entry] = {}
    read = (one for one in entries if one.version)
    for one in sorted(read, key=lambda one: (rank(one), one.number)):
        chosen[one.document_id, one.version] = one
    return chosen


def rank(entry: Entry) -> int:
    if entry.state in {State.PUBLISHED, State.EXPIRED}:
        return 2
    return 1 if entry.state is State.SUPERSEDED else 0


def compared(entry: Entry | None, held: Indexed | None) -> Kind | None:
    """How one version differs, if it does."""
    if held is None:
        return absent(entry)
    if entry is None or entry.state not in HELD:
        return "unapproved"
    if entry.state is State.APPROVED:
        return "unrecorded" if held.live else "unapproved"
    if entry.state is State.PUBLISHED and not held.live:
        return "not_live"
    return "other_day" if held.last_day != entry.last_day and entry.last_day else None


def absent(entry: Entry | None) -> Kind | None:
    if entry is None or entry.state not in SEARCHABLE or entry.never_in_force:
        return None
    return "missing" if entry.state is State.PUBLISHED else "lost_history"


async def compare(curation: Curation) -> list[Difference]:
    """The differences now. Raises IndexUnavailable.

    What others change meanwhile is none: only versions that stand as they stood before the index was asked
    are compared.
    """
    catalogue = curation.catalogue
    await catalogue.expire_due(curation.today())
    before, begun = by_version(await catalogue.all_in(ALL)), await catalogue.begun()
    indexed = await curation.indexed.all()
    after = by_version(await catalogue.all_in(ALL))
    begun = [one for one in await catalogue.begun() if one in begun]
    found = differences(after.values(), indexed, begun)
    return [one for one in found if one.intent or before.get(key_of(one)) == after.get(key_of(one))]


def key_of(one: Difference) -> Key:
    return one.document_id, one.version


async def repair(found: Sequence[Difference], curation: Curation, publish: Publish) -> list[Difference]:
    """Repairs what can be repaired; returns what was. A history that is lost stays lost."""
    live = {one.document.document_id: one for one in await curation.indexed.all() if one.live}
    done = []
    for one in found:
        if one.intent is not None:
            await curation.do_again(one.intent, live)
        elif one.kind in PUBLISHED_AGAIN and one.entry is not None:
            await publish(one.entry)
        elif not await _repaired(one, curation):
            continue
        done.append(one)
    return done


async def _repaired(one: Difference, curation: Curation) -> bool:
    if by_version(await curation.catalogue.of(one.document_id)).get(key_of(one)) != one.entry:
        return False  # somebody decided meanwhile
    if one.kind == "unapproved":
        await curation.indexed.remove(one.document_id, one.version)
    elif one.kind == "unrecorded" and one.entry is not None:
        await curation.catalogue.finish_publishing(one.entry.number, ITSELF, curation.today())
        await curation.catalogue.forget(intent_to_publish(one.entry))
    elif one.kind == "other_day" and one.entry is not None and one.entry.last_day is not None:
        await curation.indexed.end(one.document_id, one.version, one.entry.last_day)
    else:
        return False
    return True
