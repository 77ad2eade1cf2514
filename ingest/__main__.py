"""Starts the curators' service: the one file of this room that reads settings and wires the parts."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import uvloop

from ingest.catalogue.catalogue import Catalogue
from ingest.chunk import ChunkLimits
from ingest.curation import Curation
from ingest.indexed import OPTIONS, IndexedVersions
from ingest.jobs import Jobs
from ingest.jobs_table import JobTable
from ingest.load import Limits
from ingest.parents import ParentLimits
from ingest.reader import Care
from ingest.reading import Reading
from ingest.service import NAME, KnowledgeService
from ingest.service_uploads import Uploads
from ingest.tokens import TokenCounter, token_counter
from ingest.upkeep import Upkeep
from ingest.wiring import Parts, Plan, connected
from ingest.work import config_of, works
from radrag import serving, telemetry
from radrag.access import channels
from radrag.access import opening as access
from radrag.admission import limits
from radrag.audit import opening
from radrag.errors import FailedPrecondition
from radrag.knowledge.v1 import knowledge_pb2_grpc
from radrag.settings import Settings

log = logging.getLogger(__name__)

MEGABYTE = 1_000_000


def plan(
    settings: Settings, home: Path, tokenizer: Path, approver: str = "", subject: str = "radrag"
) -> Plan:
    """The corpus path as the settings want it, with its state in `home`."""
    return Plan(
        embedder_url=settings.embedder_url,
        embedder_model=settings.embedder_model,
        tokenizer=tokenizer,
        retrieval_address=settings.retrieval_address,
        tls=channels.channel_files(settings),
        models_tls=channels.trusting(settings, settings.models_ca_file),
        catalogue_url=settings.catalogue_url or f"sqlite:///{home.absolute() / 'catalogue.db'}",
        topics=settings.topics,
        subject=subject,
        approver=approver,
        two_person=settings.two_person_review,
        files=Limits(file_bytes=settings.max_file_megabytes * MEGABYTE),
        chunks=ChunkLimits(
            parents=ParentLimits(most=settings.max_parent_tokens),
            max_child_tokens=settings.max_child_tokens,
            min_child_characters=settings.min_child_characters,
            noise_threshold=settings.noise_threshold,
            strategy=settings.chunking,
        ),
        care=Care(settings.parse_files_each, settings.parse_seconds, settings.parse_megabytes),
        reading=reading(settings),
        embed_at_once=settings.embed_concurrency,
    )


def reading(settings: Settings) -> Reading:
    """How files are read as the settings want it."""
    return Reading(
        engines=settings.ocr_engines,
        languages=settings.ocr_languages,
        least_confidence=settings.ocr_least_confidence,
        page_seconds=settings.ocr_seconds,
        easyocr_models=settings.easyocr_models,
        vision_url=settings.vision_url,
        vision_model=settings.vision_model,
        vision_prompt=settings.vision_prompt,
        vision_api_key_file=settings.vision_api_key_file,
        artifacts=settings.docling_artifacts,
        layout_url=settings.docling_layout_url,
        window=settings.parse_window,
    )


class Connection:
    """The parts of the corpus path, connected when the first job needs them and kept from then on."""

    def __init__(self, plan: Plan, catalogue: Catalogue, until: AsyncExitStack) -> None:
        self._plan, self._catalogue, self._until = plan, catalogue, until
        self._counter = read_ahead(plan.tokenizer)
        self._parts: Parts | None = None
        self._one = asyncio.Lock()

    async def parts(self) -> Parts:
        """Raises Unavailable while a model or the index does not answer."""
        async with self._one:
            if self._parts is None:
                counter, self._counter = self._counter, None  # should it not fit, it is read anew
                parts = connected(self._plan, self._catalogue, counter)
                self._parts = await self._until.enter_async_context(parts)
            return self._parts


def read_ahead(tokenizer: Path) -> TokenCounter | None:
    """The tokenizer, before anyone calls: to read one takes seconds in which no other thread has its turn.

    None where it cannot be read yet: the first job tries again, and says so.
    """
    try:
        return token_counter(tokenizer)
    except FailedPrecondition:
        return None


@asynccontextmanager
async def served(settings: Settings, wanted: Plan, home: Path) -> AsyncIterator[KnowledgeService]:
    """The service with its jobs and its upkeep running, ended with the block."""
    catalogue = await Catalogue.opened(wanted.catalogue_url)
    async with AsyncExitStack() as until:
        until.push_async_callback(catalogue.close)
        channel = await until.enter_async_context(
            channels.channel(wanted.retrieval_address, wanted.tls, OPTIONS)
        )
        curation = Curation(catalogue, IndexedVersions(channel), wanted.needed)
        connection = Connection(wanted, catalogue, until)
        jobs = Jobs(JobTable(catalogue.data), works(catalogue, connection.parts), settings.ingest_jobs)
        uploads = Uploads(home / "uploads", wanted.files.file_bytes)
        upkeep = Upkeep(curation, jobs.table, uploads)
        running = [asyncio.create_task(jobs.run()), asyncio.create_task(upkeep.run())]
        for task in running:
            task.add_done_callback(stop_without)
        try:
            yield KnowledgeService(curation, jobs, uploads, wanted.topics, config_of(wanted))
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


def stop_without(task: "asyncio.Task[None]") -> None:
    """Ends the process when its work has ended by a fault: whoever started it starts it again."""
    if not task.cancelled() and (fault := task.exception()) is not None:
        log.error("the service's work ended: %s", type(fault).__name__)
        os.kill(os.getpid(), signal.SIGTERM)


async def main(settings: Settings) -> None:
    """Serves until told to stop."""
    telemetry.configure("ingest", settings.log_format)
    home = settings.home.absolute()
    doors = access.opened(settings, settings.ingest_address, settings.retrieval_address)
    with opening.opened(opening.plan(settings, "ingest"), settings.audit) as trail:
        async with served(settings, plan(settings, home, settings.embedder_tokenizer), home) as service:
            server = await serving.start(
                lambda grpc_server: knowledge_pb2_grpc.add_KnowledgeServiceServicer_to_server(
                    service, grpc_server
                ),
                settings.ingest_address,
                names=(NAME,) if settings.reflection else (),
                limits=limits.of(settings),
                metrics_host=settings.metrics_host,
                trail=trail,
                access=doors,
            )
            await server.ready(NAME)
            await serving.until_stopped(server, settings.drain_seconds)


if __name__ == "__main__":
    uvloop.run(main(Settings.from_environ(os.environ)))
