"""`radrag kb review`: shows what waits for an expert, one version after another, and asks."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from cli import ingest, kb, kb_show
from cli.exits import Exit
from cli.kb_decide import Publish, publisher
from cli.terminal import Terminal
from ingest.catalogue.catalogue import Found
from ingest.catalogue.entry import Entry
from ingest.catalogue.states import State
from ingest.curation import Curation
from ingest.review_changes import Change, changes
from radrag.errors import NotFound, PermissionDenied

Ask = Callable[[str], str]
QUESTION = "[a]pprove, [r]eject, [t]ext, [s]kip or [q]uit? "


class Enough(Exception):
    """The reviewer wants to stop."""


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Reviews as this process's user. Without a terminal, or a decision given, it only shows."""
    async with kb.opened(environ) as curation:
        waiting = await chosen(given, curation)
        if given.json and not decided(given):
            screen.json([await _as_data(one, curation) for one in waiting])
            return Exit.OK
        publish = publisher(curation, environ) if given.publish else None
        desk = Desk(curation, screen, ingest.person(), publish, shows=not given.json)
        answer = answers(given)
        try:
            done = [await desk.review(one, answer) for one in waiting]
        except Enough:
            return Exit.OK
    if given.json:
        screen.json([kb.as_data(one) for one in done])
    elif not waiting:
        screen.text("nothing waits for review")
    return Exit.OK


async def chosen(given: argparse.Namespace, curation: Curation) -> list[Entry]:
    """What waits, oldest first: all, or of one document or topic. Raises NotFound for an unknown document."""
    if given.document:
        await curation.catalogue.find(given.document, given.version)
    waiting = await curation.catalogue.all_in([State.IN_REVIEW])
    return [
        one
        for one in waiting
        if given.document in ("", one.document_id)
        and given.version in ("", one.version)
        and (not given.topic or one.metadata.topic in given.topic)
    ]


def decided(given: argparse.Namespace) -> bool:
    return bool(given.approve or given.reject)


def answers(given: argparse.Namespace) -> Ask:
    """The decision given, the person at the terminal, or nobody: then all is skipped."""
    if given.approve:
        return lambda question: "a"
    if given.reject:
        return lambda question: "r" if question is QUESTION else str(given.reject)
    return input if sys.stdin.isatty() else lambda question: "s"


class Desk:
    """One reviewer's desk. `publish` publishes what is approved; None leaves that for later."""

    def __init__(
        self,
        curation: Curation,
        screen: Terminal,
        subject: str,
        publish: Publish | None = None,
        shows: bool = True,
    ) -> None:
        self._curation, self._screen, self._shows = curation, screen, shows
        self._subject, self._publish = subject, publish

    async def review(self, entry: Entry, ask: Ask) -> Entry:
        """Shows a version and does what the answer says. Raises Enough."""
        found, changed = await read(entry, self._curation)
        if self._shows:
            kb_show.version(self._screen, found, changed)
        while (answer := ask(QUESTION).strip().lower()[:1]) not in {"a", "r", "s", "q"}:
            if answer == "t":
                self._screen.text(found.document.text)
        if answer == "q":
            raise Enough
        return await self._decide(entry, answer, ask)

    async def _decide(self, entry: Entry, answer: str, ask: Ask) -> Entry:
        catalogue, named = self._curation.catalogue, (entry.document_id, entry.version)
        if answer == "a":
            entry = await self._approve(entry)
        elif answer == "r":
            entry = await catalogue.reject(*named, self._subject, ask("why? "))
        if entry.state is State.APPROVED and self._publish is not None:
            await self._publish(entry)
            entry = await catalogue.find(*named)
        self._screen.note(f"{entry.document_id} {entry.version}: {entry.state.value}")
        return entry

    async def _approve(self, entry: Entry) -> Entry:
        named, needed = (entry.document_id, entry.version), self._curation.needed
        try:
            return await self._curation.catalogue.approve(*named, self._subject, "", needed)
        except (PermissionDenied, NotFound) as error:
            self._screen.note(error.message)
            return entry


async def read(entry: Entry, curation: Curation) -> tuple[Found, Sequence[Change]]:
    """A version, and what changed since the one in force."""
    found = await curation.catalogue.show(entry.document_id, entry.version)
    before = await curation.catalogue.before(found.entry)
    return found, changes(before.text, found.document.text) if before else []


async def _as_data(entry: Entry, curation: Curation) -> dict[str, object]:
    return kb_show.as_data(*await read(entry, curation))
