"""Which documents of the catalogue the running call's caller may see and change.

What is not the caller's is not there: the refusal is the same as for a document that does not exist.
"""

from collections.abc import Collection, Sequence

from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import Entry
from ingest.catalogue.intake import Near
from ingest.catalogue.states import State
from ingest.document import Metadata
from ingest.jobs_table import JOB_UNKNOWN, Job
from radrag import call
from radrag.errors import NotFound, PermissionDenied


def sees(metadata: Metadata) -> bool:
    """Whether a version with this metadata is the caller's."""
    return call.current().caller.sees(metadata.topic, metadata.access_labels)


async def check(catalogue: Catalogue, document_id: str) -> None:
    """Raises NotFound when there is no such document, or a version of it is not the caller's."""
    versions = await catalogue.of(document_id)
    if not versions or not all(sees(one.metadata) for one in versions):
        raise NotFound(f"document {document_id!r} is unknown")


async def check_new(catalogue: Catalogue, metadata: Metadata) -> None:
    """Raises PermissionDenied when the caller may not hand in a document as this one.

    It would be one that the caller could not see, or another's id.
    """
    if not call.current().caller.has_topic(metadata.topic):
        raise PermissionDenied(f"the topic {metadata.topic} is not the caller's", "TOPIC_FORBIDDEN")
    if not sees(metadata):
        raise PermissionDenied("none of access_labels is the caller's", "LABEL_FORBIDDEN")
    if not all(sees(one.metadata) for one in await catalogue.of(metadata.document_id)):
        raise PermissionDenied("the document_id is not the caller's to use", "DOCUMENT_FORBIDDEN")


async def check_job(catalogue: Catalogue, job: Job) -> None:
    """Raises NotFound unless the job's document is the caller's; a deleted document's job is its asker's."""
    versions = await catalogue.of(job.document_id)
    mine = all(sees(one.metadata) for one in versions) if versions else job.subject == _subject()
    if not mine:
        raise NotFound(JOB_UNKNOWN)


async def page(
    catalogue: Catalogue, states: Collection[State], topics: Sequence[str], size: int, before: int | None
) -> list[Entry]:
    """At most `size` versions that are the caller's, newest first, with a number below `before`."""
    found: list[Entry] = []
    while len(found) < size:
        some = await catalogue.page(states, topics, size, before)
        found += [one for one in some if sees(one.metadata)]
        if len(some) < size:
            break
        before = some[-1].number
    return found[:size]


async def near(catalogue: Catalogue, alike: Sequence[Near]) -> list[Near]:
    """Those that are the caller's."""
    entries = [await catalogue.find(one.document_id, one.version) for one in alike]
    return [one for one, entry in zip(alike, entries, strict=True) if sees(entry.metadata)]


def _subject() -> str:
    return call.current().caller.subject
