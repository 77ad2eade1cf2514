"""A batch in a process of its own, to be killed: `python -m tests.ingest.batch FOLDER RETRIEVAL`.

It ingests FOLDER/documents with everything real but the model, which takes the same time for every text, and
writes a line for each stage that a document enters.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from grpc import aio

from ingest.catalogue.catalogue import Catalogue
from ingest.curation import Curation
from ingest.document import Metadata
from ingest.embed import Embedder, Span
from ingest.event import Event
from ingest.indexed import IndexedVersions
from ingest.manifest import Item
from ingest.pipeline import run
from ingest.reader import Reader
from ingest.review import Desk
from radrag.triton import Embedding
from tests.ingest.knowledge import Models, parts_of
from tests.retrieval.making import DIMENSION


async def null(text: str, spans: Sequence[Span]) -> Embedding:
    """The same vector for everything, after 2 ms."""
    await asyncio.sleep(0.002)
    rows = np.full((len(spans), DIMENSION), DIMENSION**-0.5, dtype=np.float32)
    return Embedding(rows, [1] * len(spans), truncated=False)


async def main(folder: Path, address: str) -> int:
    async with AsyncExitStack() as until:
        catalogue = await Catalogue.opened(f"sqlite:///{folder / 'catalogue.db'}")
        until.push_async_callback(catalogue.close)
        channel = await until.enter_async_context(aio.insecure_channel(address))
        reader = await until.enter_async_context(Reader())
        curation = Curation(catalogue, IndexedVersions(channel))
        parts = parts_of(curation, channel, Models(), reader)
        await curation.settle()
        await parts.index.refresh()
        desk = Desk(catalogue, "expert", approves=True)
        pipeline = replace(parts.pipeline, review=desk.review, embed=Embedder(null, "null").vectors)
        summary = await run(items(folder), pipeline, told)
    return summary.count("failed")


def items(folder: Path) -> list[Item]:
    paths = sorted((folder / "documents").glob("*.md"))
    return [Item(path, path.name, Metadata(document_id=path.stem, topic="safety")) for path in paths]


def told(event: Event) -> None:
    sys.stdout.write(f"{event.file} {event.stage or event.result}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(asyncio.run(main(Path(sys.argv[1]), sys.argv[2])), 100))
