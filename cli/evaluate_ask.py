"""The answers an evaluation looks at: read from a file, or asked for, if need be of its own instance."""

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cli import evaluate_writing, places
from cli.evaluate_writing import Write
from cli.terminal import Terminal
from evaluation import asking, written
from evaluation.bounded import each
from evaluation.datasets import Document
from evaluation.written import Asked, Written
from radrag.settings import Settings

if TYPE_CHECKING:
    from ingest.manifest import Item


@dataclass(frozen=True)
class Answers:
    """Those to be judged, and those of the model alone where they were asked for."""

    ours: list[Written]
    alone: list[Written]


async def answers(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> Answers:
    """Those of the file, or those of the service to the questions of a file or a data set. DatasetError."""
    settings = Settings.from_environ(environ)
    if given.answers.is_file() and asking.is_answered(given.answers):
        ours = written.read(given.answers)
        return Answers(ours, await _alone([one.asked for one in ours], given, screen, settings))
    every, documents = asking.of(given.answers, given.split)
    asked = drawn(every, given.limit)
    async with AsyncExitStack() as stack:
        if documents or given.own:
            home = places.home(settings, environ) / "eval" / f"answers-{given.answers.resolve().stem}"
            items = _items(documents, settings, home) if documents else _samples(given.samples)
            settings = await stack.enter_async_context(_served(home, items, given, screen, environ))
        write = await stack.enter_async_context(evaluate_writing.by_service(settings))
        ours = _kept(await _each(write, asked, given, screen), given.out, screen)
        return Answers(ours, await _alone(asked, given, screen, settings))


def _served(
    home: Path,
    items: Sequence["Item"],
    given: argparse.Namespace,
    screen: Terminal,
    environ: Mapping[str, str],
) -> AbstractAsyncContextManager[Settings]:
    from cli import evaluate_instance  # noqa: PLC0415  a judge's environment has no ingest

    return evaluate_instance.served(home, items, screen, {**environ, **_shown(given.contexts)})


async def _alone(
    asked: Sequence[Asked], given: argparse.Namespace, screen: Terminal, settings: Settings
) -> list[Written]:
    """The same generator's own answers to the same questions, without any source."""
    if given.alone is None:
        return []
    async with evaluate_writing.by_generator(settings) as writer:
        found = await _each(writer.alone, asked, given, screen)
    return _kept(found, given.alone, screen, "asked of the model alone ")


def drawn(asked: Sequence[Asked], limit: int) -> list[Asked]:
    """`limit` of the questions by their id's hash, the same ones every time; 0 is all, in their order."""
    order = sorted(asked, key=lambda one: hashlib.sha256(one.id.encode()).digest())
    return order[:limit] if limit else list(asked)


async def _each(
    write: Write, asked: Sequence[Asked], given: argparse.Namespace, screen: Terminal
) -> list[Written]:
    def progress(stage: str, done: int, of: int) -> None:
        screen.progress(f"{stage} {done} of {of}")

    return await each(write, asked, given.at_once, "asking", progress)


def _kept(found: list[Written], out: Path | None, screen: Terminal, whose: str = "") -> list[Written]:
    screen.progress("")
    if failed := [one.error for one in found if one.error]:
        kinds = ", ".join(sorted(set(failed)))
        screen.note(f"{len(failed)} of {len(found)} questions {whose}failed: {kinds}")
    if failed := [one.error for one in found if one.error]:
        screen.note(f"{len(failed)} of {len(found)} questions failed: {', '.join(sorted(set(failed)))}")
    if out is not None:
        written.write(found, out)
    return found


def _shown(contexts: int) -> dict[str, str]:
    if not contexts:
        return {}
    candidates = max(contexts, Settings().candidates)
    return {"RADRAG_SOURCES": str(contexts), "RADRAG_CANDIDATES": str(candidates)}


def _samples(folder: Path) -> list["Item"]:
    from ingest.manifest import read_manifest  # noqa: PLC0415  a judge's environment has no ingest

    return read_manifest(folder / "manifest.yaml")


def _items(documents: Sequence[Document], settings: Settings, home: Path) -> list["Item"]:
    """The documents as files, spread over the topics; a text that was there before is left out."""
    from cli import distractors  # noqa: PLC0415  a judge's environment has no ingest

    once = {document.text: document for document in reversed(documents) if document.text.strip()}
    some = [document for document in documents if once.get(document.text) is document]
    topics = settings.topics
    return [
        distractors.written(home / "documents", f"document-{n}", document, topics[n % len(topics)])
        for n, document in enumerate(some)
    ]
