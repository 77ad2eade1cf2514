"""Values of the catalogue as replies of the curators' contract."""

from collections.abc import Sequence
from datetime import date

from google.protobuf.timestamp_pb2 import Timestamp

from ingest.catalogue.catalogue import Found
from ingest.catalogue.entry import Entry
from ingest.catalogue.history import Event
from ingest.catalogue.intake import Near
from ingest.catalogue.states import State
from ingest.document import PageRecord
from ingest.jobs_table import Job
from ingest.review_changes import Change
from ingest.review_removals import Removed, removals
from radrag.knowledge.v1 import knowledge_pb2 as wire


def state(one: State) -> wire.State:
    """A state as its number."""
    number: wire.State = getattr(wire, f"STATE_{one.value.upper()}")
    return number


def summary(entry: Entry) -> wire.DocumentSummary:
    """A version in a list."""
    return wire.DocumentSummary(
        metadata=metadata(entry),
        version=entry.version,
        state=state(entry.state),
        since=timestamp(entry.since),
        flags=entry.flags,
    )


def metadata(entry: Entry) -> wire.Metadata:
    """What is said about a version, with the days in force as they are now."""
    known = entry.metadata
    return wire.Metadata(
        document_id=entry.document_id,
        title=entry.title,
        topic=known.topic,
        category=known.category,
        language=entry.language,
        source_uri=known.source_uri,
        licence=known.licence,
        valid_from=day(entry.first_day or known.valid_from),
        valid_to=day(entry.last_day or known.valid_to),
        access_labels=known.access_labels,
    )


def shown(found: Found, changed: Sequence[Change]) -> wire.GetDocumentResponse:
    """One version with all that belongs to it."""
    return wire.GetDocumentResponse(
        document=summary(found.entry),
        markdown=found.document.text,
        chunks=[
            wire.Chunk(level=one.level, start=one.start, end=one.end, tokens=one.tokens)
            for one in found.chunks
        ],
        versions=map(summary, found.versions),
        history=map(event, found.history),
        changes=map(change, changed),
        near_duplicates=map(near_duplicate, found.near),
        pages=map(page_record, found.document.records),
        removals=map(removal, removals(found.document)),
    )


def event(one: Event) -> wire.ReviewEvent:
    """One act of a version's history."""
    return wire.ReviewEvent(
        subject=one.subject,
        at=timestamp(one.at),
        state=state(one.state),
        reason=one.reason,
        act=one.act.value,
    )


def change(one: Change) -> wire.SectionChange:
    """One section that is not as it was."""
    return wire.SectionChange(
        heading_path=one.path, kind=one.kind, removed_lines=one.removed, added_lines=one.added
    )


def near_duplicate(one: Near) -> wire.NearDuplicate:
    """Another document with nearly the same text."""
    return wire.NearDuplicate(
        document_id=one.document_id,
        version=one.version,
        title=one.title,
        state=state(one.state),
        likeness=one.likeness,
    )


def page_record(one: PageRecord) -> wire.PageRecord:
    """How one page was read."""
    return wire.PageRecord(page=one.page, engine=one.engine, confidence=one.confidence, reasons=one.reasons)


def removal(one: Removed) -> wire.Removal:
    """What one rule of cleaning took out."""
    return wire.Removal(rule=one.rule, count=one.count, characters=one.characters, samples=one.samples)


def progress(job: Job) -> wire.WatchJobResponse:
    """How far a job is."""
    return wire.WatchJobResponse(
        stage=job.stage,
        progress=job.progress,
        done=job.ended,
        state=state(State(job.state)) if job.state else wire.STATE_UNSPECIFIED,
        error=job.error if job.status == "failed" else "",
    )


def timestamp(microseconds: int) -> Timestamp:
    """An instant, from microseconds since 1970."""
    found = Timestamp()
    found.FromMicroseconds(microseconds)
    return found


def day(one: date | None) -> str:
    """A day, empty for none."""
    return one.isoformat() if one else ""
