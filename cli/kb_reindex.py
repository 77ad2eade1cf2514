"""`radrag kb reindex`: builds a generation beside the one in use, checks it, switches to it and back."""

import argparse
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from grpc import aio

from cli import ingest, kb
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import questions
from evaluation.jsonl import DatasetError
from ingest.curation import Curation
from ingest.generations import Generation, Generations
from ingest.indexed import OPTIONS
from ingest.reindex import Built, Reindex, compared, named, rollback
from ingest.reindex_check import Check as Comparison
from ingest.reindex_check import Outcome, Probe, from_titles
from ingest.wiring import Plan, connected
from radrag import call
from radrag.access import channels
from radrag.errors import InvalidArgument
from radrag.settings import Settings
from radrag.triton import Embedding, ModelServer

SHOWN = 5  # lost questions that the refusal names


@dataclass(frozen=True)
class Desk:
    """What every step has: the catalogue beside the index, its generations, the settings, the screen."""

    given: argparse.Namespace
    screen: Terminal
    plan: Plan
    curation: Curation
    generations: Generations
    channel: aio.Channel

    def say(self, data: dict[str, object], text: str) -> None:
        """For programs or for people."""
        if self.given.json:
            self.screen.json(data)
        else:
            self.screen.text(text)


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Takes one step. Status 1 when a document could not be written."""
    plan = ingest.plan(Settings.from_environ(environ), environ, "")
    async with (
        kb.opened(environ) as curation,
        channels.channel(plan.retrieval_address, plan.tls, OPTIONS) as channel,
    ):
        desk = Desk(given, screen, plan, curation, Generations(channel), channel)
        return await STEPS[given.step](desk)


async def start(desk: Desk) -> int:
    """Builds, or goes on building."""
    async with building(desk) as reindex:
        built = await reindex.build(await reindex.start())
    desk.screen.progress("")
    for document_id, reason in sorted(built.failed.items()):
        desk.screen.note(f"{document_id}: {reason}")
    desk.say(
        built_data(built),
        f"{built.generation}: {built.written} versions written, {built.removed} removed, "
        f"{len(built.failed)} documents failed; next: radrag kb reindex switch {built.generation}",
    )
    return Exit.FAILURE if built.failed else Exit.OK


def built_data(built: Built) -> dict[str, object]:
    return {
        "generation": built.generation,
        "written": built.written,
        "removed": built.removed,
        "failed": built.failed,
    }


@asynccontextmanager
async def building(desk: Desk) -> AsyncIterator[Reindex]:
    """The parts with which today's settings build."""
    done = 0

    def told(document_id: str) -> None:
        nonlocal done
        done += 1
        desk.screen.progress(f"{done} documents, {document_id}"[:78])

    async with connected(desk.plan, desk.curation.catalogue) as parts:
        yield Reindex(parts, desk.generations, told)


async def status(desk: Desk) -> int:
    """Lists the generations; the one in use lacks nothing."""
    held, _ = await desk.generations.all()
    used = await desk.curation.indexed.all()
    rows = []
    for one in held:
        behind = compared(used, await desk.curation.indexed.all(one.name), 0)
        rows.append(described(one, len(behind.write), len(behind.remove)))
    if desk.given.json:
        desk.screen.json(rows)
    else:
        headings = [name.replace("_", " ") for name in (rows[0] if rows else ())]
        desk.screen.table(headings, [tuple(map(str, row.values())) for row in rows])
    return Exit.OK


def described(one: Generation, lacks: int, too_many: int) -> dict[str, object]:
    return {
        "generation": one.name,
        "in_use": one.current,
        "embedder": one.fingerprint.embedder.name,
        "pooling": one.fingerprint.pooling,
        "chunking": one.fingerprint.chunking,
        "documents": one.documents,
        "versions": one.versions,
        "lacks": lacks,
        "too_many": too_many,
    }


async def switch(desk: Desk) -> int:
    """Brings the generation up to date, checks it, switches."""
    async with building(desk) as reindex:
        name = desk.given.generation or await reindex.start()
        server = ModelServer(desk.plan.embedder_url, "embedder", desk.plan.models_tls)
        try:
            checking = Checking(desk, server)
            previous = await reindex.switch(name, checking.check)
        finally:
            await server.close()
    desk.screen.progress("")
    outcome = checking.outcome
    desk.say(
        {
            "generation": name,
            "previous": previous,
            "asked": outcome.asked,
            "found": outcome.found,
            "lost": outcome.lost,
        },
        f"{name} is in use, {previous} before it. Check: {outcome.asked} asked, {outcome.found} found "
        f"before, {len(outcome.lost)} of those lost. Back: radrag kb reindex rollback {previous}",
    )
    return Exit.OK


class Checking:
    """The functional check, as `Reindex.switch` wants it; `outcome` is the last one's."""

    def __init__(self, desk: Desk, server: ModelServer) -> None:
        self._desk, self._server, self.outcome = desk, server, Outcome(0, 0, ())

    async def check(self, name: str) -> Sequence[str]:
        """Says what is lost, when it is more than may be."""
        desk, held = self._desk, await self._desk.generations.all()
        used = next(one for one in held[0] if one.current)
        versions = await desk.curation.indexed.all()
        probes = asked(desk.given.questions) if desk.given.questions else from_titles(versions)
        everyone = frozenset(label for one in versions for label in one.document.access_labels)
        with call.running(call.Call(call.Caller(ingest.person(), labels=everyone))):
            self.outcome = await Comparison(desk.channel, self._embed).run(probes, used, named(held, name))
        lost = self.outcome.lost
        if not self.outcome.found:
            return [f"none of {len(probes)} questions finds its document in the generation in use"]
        if len(lost) <= desk.given.lose:
            return []
        more = [f"and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else []
        return [f"{len(lost)} of {self.outcome.found} questions lost: {', '.join([*lost[:SHOWN], *more])}"]

    async def _embed(self, model: str, text: str) -> Embedding:
        return await self._server.embed(model, text, "query")


def asked(path: Path) -> list[Probe]:
    """The answerable questions of a set. Raises InvalidArgument."""
    try:
        known = questions.load(path)
    except (DatasetError, OSError) as error:
        raise InvalidArgument("--questions", str(error)) from None
    documents = {
        one.id: frozenset(quote.document for path in one.evidence for quote in path) for one in known
    }
    return [Probe(one.id, one.text, documents[one.id]) for one in known if one.answerable]


async def back(desk: Desk) -> int:
    """Goes back at once; says what was published since."""
    left, name = await rollback(desk.generations, desk.given.generation)
    before, now = await desk.curation.indexed.all(left), await desk.curation.indexed.all()
    lacks = [one[0].document.document_id for one in compared(before, now, 0).write]
    desk.say(
        {"generation": name, "previous": left, "lacks": lacks},
        f"{name} is in use again. It lacks {len(lacks)} documents of {left}"
        + (": radrag kb reconcile publishes them, with its settings" if lacks else ""),
    )
    return Exit.OK


async def drop(desk: Desk) -> int:
    """Removes one."""
    await desk.generations.drop(desk.given.generation)
    desk.say({"dropped": desk.given.generation}, f"{desk.given.generation} is gone")
    return Exit.OK


STEPS = {"start": start, "status": status, "switch": switch, "rollback": back, "drop": drop}
