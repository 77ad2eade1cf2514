"""The corpus path of a batch: load → parse → clean → chunk → review → embed → publish.

Every stage is a plain async function; `ingest.wiring` chooses the real ones, tests pass fakes. Nothing here
knows Docling, Triton or gRPC. Files overlap: while one is published the next is embedded and a third parsed;
how many may be under way bounds the memory. A file that fails ends alone; the others go on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

from ingest.document import Document, Parsed
from ingest.event import Event, OnEvent, Outcome, Result, Summary
from ingest.identity import check_metadata, document_of
from ingest.load import Source
from ingest.manifest import Item
from ingest.passage import Parent
from ingest.publish import Published
from ingest.refusal import refused
from ingest.review import Review, Verdict
from radrag.errors import InvalidArgument, RadragError, Unavailable
from radrag.triton import Vectors

UNDER_WAY = 6  # files; each holds its text and its vectors


@dataclass(frozen=True)
class Pipeline:
    """The stages. `review` says who approved a version, or nobody: then nothing of it is published.

    `unread` is told of each file that could not be read, and why. `under_way` bounds the files in work.
    """

    load: Callable[[Item], Awaitable[Source]]
    parse: Callable[[Source], Awaitable[Parsed]]
    clean: Callable[[Parsed], Awaitable[Parsed]]
    chunk: Callable[[Document], Awaitable[list[Parent]]]
    review: Review
    is_live: Callable[[Document], Awaitable[bool]]
    embed: Callable[[Document, Sequence[Parent]], Awaitable[list[Vectors]]]
    publish: Callable[[Document, Sequence[Parent], Sequence[Vectors], Verdict], Awaitable[Published]]
    unread: Callable[[Item, str], Awaitable[None]]
    topics: Collection[str]
    under_way: int = UNDER_WAY

    async def document(self, item: Item, enter: Callable[[str], None]) -> Document:
        """Reads one file. `enter` is told each stage."""
        check_metadata(item.name, item.metadata, self.topics)
        enter("load")
        source = await self.load(item)
        try:
            enter("parse")
            parsed = await self.parse(source)
            enter("clean")
            return document_of(item.name, item.metadata, await self.clean(parsed), parsed.markdown)
        except Unavailable:  # no fault of the file
            raise
        except Exception as error:
            await self.unread(item, reason_of(error))
            raise

    async def ingest(self, item: Item, enter: Callable[[str], None], claim: Callable[[str], None]) -> Result:
        """Takes one file as far as it may go. `claim` refuses a document id another file of the batch has."""
        document = await self.document(item, enter)
        claim(document.document_id)
        found = described(item.name, document)
        if await self.is_live(document):
            return replace(found, outcome="unchanged")
        enter("chunk")
        parents = await self.chunk(document)
        counted = replace(found, parents=len(parents), children=sum(len(one.searched) for one in parents))
        enter("review")
        verdict = await self.review(document, parents)
        if verdict.withheld:
            return replace(counted, outcome="withheld", reason=verdict.withheld)
        if not verdict.approvers:
            return counted
        done = await self.published(document, parents, verdict, enter)
        outcome: Outcome = "published" if done.changed else "unchanged"
        return replace(counted, outcome=outcome, superseded=done.superseded)

    async def published(
        self, document: Document, parents: Sequence[Parent], verdict: Verdict, enter: Callable[[str], None]
    ) -> Published:
        """Embeds and publishes an approved version."""
        enter("embed")
        vectors = await self.embed(document, parents)
        enter("publish")
        return await self.publish(document, parents, vectors, verdict)


def described(name: str, document: Document) -> Result:
    return Result(
        file=name,
        outcome="in_review",
        document_id=document.document_id,
        version=document.version,
        engine=document.engine,
        pages=len({part.page for part in document.pages}),
    )


async def run(items: Sequence[Item], pipeline: Pipeline, on_event: OnEvent) -> Summary:
    """Ingests a batch. A file's fault is its result; raised is only what ends all, as being cancelled."""
    started, summary = perf_counter(), Summary()
    batch = Batch(pipeline, on_event, summary)
    slots = asyncio.Semaphore(pipeline.under_way)
    async with asyncio.TaskGroup() as group:
        for item in items:
            await slots.acquire()
            group.create_task(batch.one(item)).add_done_callback(lambda _: slots.release())
    summary.seconds = perf_counter() - started
    return summary


class Batch:
    """A running batch: which file has which document, and what came of them."""

    def __init__(self, pipeline: Pipeline, on_event: OnEvent, summary: Summary) -> None:
        self._pipeline = pipeline
        self._on_event = on_event
        self._summary = summary
        self._files: dict[str, Item] = {}  # by document id

    async def one(self, item: Item) -> None:
        """Ingests one file and reports how it ended."""
        started = perf_counter()
        try:
            result = await self._pipeline.ingest(
                item, lambda stage: self._on_event(Event(item.name, stage)), partial(self._claim, item)
            )
        except Exception as error:  # noqa: BLE001  # whatever a file does to a parser, the batch goes on
            result = Result(item.name, "failed", reason=reason_of(error))
        result = replace(result, seconds=perf_counter() - started)
        self._summary.results.append(result)
        self._on_event(Event(item.name, result=result))

    def _claim(self, item: Item, document_id: str) -> None:
        """Two files must not become one document: the later would silently replace the earlier."""
        first = self._files.setdefault(document_id, item)
        if (first.name, first.path) != (item.name, item.path):
            other = first.name if first.name != item.name else first.path
            raise refused(item.name, "id", f"{other} is document {document_id} already; ids must be distinct")


def cause_of(error: BaseException) -> BaseException:
    """The first failure of a group that failed together; any other error as it is."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def reason_of(error: BaseException) -> str:
    """Why a file failed. Of a fault of our own only its kind is told: its text may quote the document."""
    error = cause_of(error)
    if isinstance(error, InvalidArgument):
        return f"{error.field}: {error.limit}"
    return error.message if isinstance(error, RadragError) else f"internal error ({type(error).__name__})"
