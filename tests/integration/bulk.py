"""A batch of documents through embedders that take their time: how many texts a second."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from cli import ingest
from cli.process import Child
from cli.triton_server import TritonServer
from ingest.document import Metadata
from ingest.manifest import Item
from ingest.pipeline import run
from ingest.wiring import wired
from radrag.settings import Settings
from tests.integration.conftest import MODELS, Stack
from tests.ports import free_grpc_port

MILLISECONDS = 250  # of a text in the model, one text at a time: its servers are all that limits
DOCUMENTS, SECTIONS = 8, 5  # a section is a parent, and a parent is a text to embed
SENTENCE = "The yearly dose limit of section {} in document {} of run {} is kept by all who work there. "


def slow(folder: Path) -> list[TritonServer]:
    """Two embedders that compute nothing and take their time."""
    repository = folder / "models"
    shutil.copytree(MODELS / "null_embedder", repository / "null_embedder")
    config = repository / "null_embedder" / "config.pbtxt"
    text = config.read_text().replace("max_batch_size: 32", "max_batch_size: 1")
    config.write_text(text.replace('string_value: "2"', f'string_value: "{MILLISECONDS}"'))
    ports = free_grpc_port(), free_grpc_port()
    return [
        TritonServer(Child(f"e{port}", folder), ("null_embedder",), port, repository=repository)
        for port in ports
    ]


async def rate(stack: Stack, url: str, folder: Path, name: str) -> float:
    """Texts embedded per second while a batch of new documents goes from files into the index."""
    environ = dict(stack.environ) | {"RADRAG_EMBEDDER_URL": url, "RADRAG_EMBED_CONCURRENCY": "8"}
    plan = ingest.plan(Settings.from_environ(environ), environ, "test")
    async with wired(plan) as pipeline:
        summary = await run(list(documents(folder, name)), pipeline, lambda event: None)
    assert summary.count("published") == DOCUMENTS
    assert summary.parents >= DOCUMENTS * SECTIONS
    return summary.parents / summary.seconds


def documents(folder: Path, name: str) -> Iterator[Item]:
    for number in range(DOCUMENTS):
        path = folder / f"d{name}{number}.md"
        sections = (
            f"## Section {one}\n\n{SENTENCE.format(one, number, name) * 12}" for one in range(SECTIONS)
        )
        path.write_text(f"# Document {number} of {name}\n\n" + "\n\n".join(sections) + "\n")
        yield Item(path, path.name, Metadata(document_id=path.stem, topic="safety"))
