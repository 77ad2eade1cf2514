"""A served instance for one evaluation: samples, and distractors when wanted, in a home of its own.

The model server that runs is used when it has the models; retrieval and gateway are started here, on free
ports, and stopped at the end. The index stays, so that a second run embeds nothing again; an index made by
other words, chunks or vectors is another one, in a folder beside it.
"""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from cli import demo, health, ingest, ports, services, supervision
from cli.supervision import Service
from cli.terminal import Terminal
from ingest import pipeline
from ingest.manifest import Item
from ingest.wiring import wired
from radrag.errors import FailedPrecondition
from radrag.settings import Settings
from retrieval.bm25 import Bm25

MODEL_SERVER = "triton"
APPROVER = "evaluation"
# A measurement can wait: on a busy machine a reply must be late, not degraded.
PATIENT = {
    "RADRAG_EMBED_SECONDS": "60",
    "RADRAG_SEARCH_SECONDS": "30",
    "RADRAG_RERANK_SECONDS": "300",
    "RADRAG_GENERATE_SECONDS": "300",
}
CHUNKING = ("max_parent_tokens", "max_child_tokens", "min_child_characters", "noise_threshold", "chunking")


@asynccontextmanager
async def served(
    home: Path, items: Sequence[Item], screen: Terminal, environ: Mapping[str, str]
) -> AsyncIterator[Settings]:
    """An instance that holds `items`; yields its settings. Raises what starting and ingesting raise."""
    shared = not await _lacks_models(environ)
    own = _environ(home / _made_by(Settings.from_environ(environ)), environ, shared)
    settings, parts = Settings.from_environ(own), _services(own, shared)
    await supervision.up(parts, screen, 180.0)
    try:
        await _ingest(items, settings, own, screen)
        yield settings
    finally:
        await supervision.down([one.child for one in parts])


def _made_by(settings: Settings) -> str:
    """Ten hex digits that change with what the index records of its making."""
    parts = [Bm25().sha256, settings.embedder_model, *(str(getattr(settings, name)) for name in CHUNKING)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:10]


async def _lacks_models(environ: Mapping[str, str]) -> list[str]:
    settings = Settings.from_environ(environ)
    return await health.models_not_ready(settings.embedder_url, services.models(settings))


def _environ(home: Path, environ: Mapping[str, str], shared: bool) -> dict[str, str]:
    """The settings given, with a home of its own and the lowest free ports above the usual ones."""
    own = {**PATIENT, **environ, "RADRAG_HOME": str(home), "RADRAG_INDEX_PATH": str(home / "index")}
    own.pop("RADRAG_CATALOGUE_URL", None)
    own["RADRAG_INSECURE_DEV"] = "true"  # it listens on this machine only, and asks itself
    own["RADRAG_HTTP_ADDRESS"] = ""  # nobody looks at it, and the served console may be there
    for name in ("RADRAG_CALLERS_FILE", "RADRAG_JWT_ISSUER", "RADRAG_TLS_CERT_FILE", "RADRAG_TLS_CA_FILE"):
        own.pop(name, None)
    for shift in range(demo.STEP, demo.HIGHEST, demo.STEP):
        moved = own | {
            name: value
            for name, value in demo.moved_up(shift).items()
            if not (shared and name.endswith("_URL"))
        }
        if not ports.taken(port for one in _services(moved, shared) for port in one.ports):
            return moved
    raise FailedPrecondition("no free ports found for the evaluation", "PORT_TAKEN")


def _services(environ: Mapping[str, str], shared: bool) -> list[Service]:
    every = services.profile(Settings.from_environ(environ), environ).services
    return [one for one in every if not (shared and one.child.name == MODEL_SERVER)]


async def _ingest(
    items: Sequence[Item], settings: Settings, environ: Mapping[str, str], screen: Terminal
) -> None:
    async with wired(ingest.plan(settings, environ, APPROVER)) as parts:
        summary = await pipeline.run(items, parts, ingest.shown(screen, len(items)))
    screen.progress("")
    if failed := [one.file for one in summary.results if one.outcome == "failed"]:
        raise FailedPrecondition(
            f"{len(failed)} documents could not be ingested: {failed[0]} …", "NOT_INGESTED"
        )
