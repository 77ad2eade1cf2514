"""What jobs do: read a file that was handed in up to its review, and publish a version that was approved."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import Entry, ranges_of
from ingest.catalogue.states import State
from ingest.document import Metadata
from ingest.jobs import Enter, Work
from ingest.jobs_table import Job
from ingest.manifest import Item
from ingest.pipeline import Pipeline, cause_of, reason_of
from ingest.review import Desk, Verdict
from ingest.wiring import Parts, Plan, unread
from radrag.errors import Unavailable

Connected = Callable[[], Awaitable[Parts]]


def config_of(plan: Plan) -> str:
    """A hash of the settings that a document's chunks and vectors depend on."""
    parts = [plan.embedder_model, asdict(plan.chunks)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def works(catalogue: Catalogue, connected: Connected) -> Mapping[str, Work]:
    """The function for each kind of job. `connected` gives the parts, which it may have to wait for."""

    async def reading(job: Job, enter: Enter) -> State:
        return await read(job, enter, catalogue, await connected())

    async def publishing(job: Job, enter: Enter) -> State:
        entry = await catalogue.numbered(int(str(job.given["number"])))
        await publish(entry, catalogue, await connected(), enter)
        return (await catalogue.numbered(entry.number)).state

    return {"read": reading, "publish": publishing}


async def read(job: Job, enter: Enter, catalogue: Catalogue, parts: Parts) -> State:
    """Takes a file into review. The file stays: a job that is killed before its end is done again."""
    item = Item(Path(str(job.given["path"])), str(job.given["filename"]), metadata_in(job.given["metadata"]))
    try:
        return await _read(item, job.subject, enter, catalogue, replace(parts.pipeline, unread=untold))
    except Exception as error:
        if not isinstance(cause_of(error), Unavailable):  # which is no fault of the file: it is tried again
            await unread(catalogue, job.subject)(item, reason_of(error))
        raise


async def _read(item: Item, subject: str, enter: Enter, catalogue: Catalogue, pipeline: Pipeline) -> State:
    document = await pipeline.document(item, enter)
    enter("chunk")
    parents = await pipeline.chunk(document)
    enter("review")
    return (await Desk(catalogue, subject).review(document, parents)).entry.state


async def untold(item: Item, reason: str) -> None:
    """Tells nobody: the job tells of every fault, not only of those in reading."""


async def publish(
    entry: Entry, catalogue: Catalogue, parts: Parts, enter: Enter = lambda stage: None
) -> None:
    """Publishes a version from the catalogue's own text. Raises FailedPrecondition unless it is approved."""
    document = await catalogue.document(entry.number)
    enter("chunk")
    parents = await parts.pipeline.chunk(document)
    await catalogue.put_chunks(entry.number, ranges_of(parents))
    await parts.pipeline.published(document, parents, Verdict(entry, entry.approved_by), enter)


def metadata_out(metadata: Metadata) -> dict[str, object]:
    """Metadata as JSON has it."""
    days = {name: str(day) if (day := getattr(metadata, name)) else "" for name in ("valid_from", "valid_to")}
    return {**asdict(metadata), **days, "access_labels": list(metadata.access_labels)}


def metadata_in(given: object) -> Metadata:
    """Metadata back from JSON."""
    assert isinstance(given, dict)
    days = {
        name: date.fromisoformat(given[name]) if given[name] else None for name in ("valid_from", "valid_to")
    }
    return Metadata(**{**given, **days, "access_labels": tuple(given["access_labels"])})
