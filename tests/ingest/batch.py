"""A batch in a process of its own, to be killed: FOLDER RETRIEVAL EMBEDDER MODEL.

It ingests FOLDER/documents as `radrag ingest --approve` does, a line for each stage that a document enters.
"""

import asyncio
import sys
from pathlib import Path

from cli.places import ROOT
from ingest.document import Metadata
from ingest.event import Event
from ingest.manifest import Item
from ingest.pipeline import run
from ingest.wiring import Plan, wired
from tests.ingest.knowledge import CHUNKS
from tests.retrieval.making import TOPICS

TOKENIZER = ROOT / "model_repository" / "e5_small" / "1" / "tokenizer.json"


def plan(folder: Path, retrieval: str, embedder: str, model: str) -> Plan:
    """The corpus path with its catalogue in `folder`."""
    return Plan(
        embedder_url=embedder,
        embedder_model=model,
        tokenizer=TOKENIZER,
        retrieval_address=retrieval,
        catalogue_url=f"sqlite:///{folder / 'catalogue.db'}",
        topics=TOPICS,
        approver="expert",
        chunks=CHUNKS,
    )


async def main(folder: Path, *addresses: str) -> int:
    async with wired(plan(folder, *addresses)) as pipeline:
        summary = await run(items(folder), pipeline, told)
    return summary.count("failed")


def items(folder: Path) -> list[Item]:
    paths = sorted((folder / "documents").iterdir())
    return [Item(path, path.name, Metadata(document_id=path.stem, topic="safety")) for path in paths]


def told(event: Event) -> None:
    sys.stdout.write(f"{event.file} {event.stage or event.result}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:5])), 100))
