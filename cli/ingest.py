"""`radrag ingest`: lends the corpus path its files and its parts, shows how far it is and what came of it."""

import argparse
import getpass
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from cli import places
from cli.audited import audited
from cli.exits import Exit
from cli.terminal import Terminal
from ingest import __main__ as service
from ingest import pipeline
from ingest.document import Metadata
from ingest.event import OUTCOMES, Event, OnEvent, Result, Summary
from ingest.identity import document_id_of
from ingest.manifest import Item, read_manifest
from ingest.wiring import Plan, wired
from radrag.access import channels
from radrag.errors import InvalidArgument
from radrag.settings import Settings

BAR = 24  # characters


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 0 when every file went through, 1 when one did not; the others are in."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a local Ray would report its use
    settings, items = Settings.from_environ(environ), chosen(given)
    files, (items, refused) = len(items), apart(items, settings.topics)
    on_event = shown(screen, files)
    for one in refused:
        on_event(Event(one.file, result=one))
    channels.show_credential(settings, settings.retrieval_address)
    with audited("ingest --approve" if given.approve else "ingest", person(), environ) as told:
        wanted = plan(settings, environ, person() if given.approve else "")
        summary = await read(items, replace(wanted, ray=given.ray), on_event) if items else Summary()
        summary.results += refused
        told.note("done", versions(summary), **{one: summary.count(one) for one in OUTCOMES})
    screen.progress("")
    if given.json:
        screen.json(as_data(summary))
    else:
        report(screen, summary)
    return Exit.FAILURE if summary.count("failed") else Exit.OK


async def read(items: Sequence[Item], wanted: Plan, on_event: OnEvent) -> Summary:
    """Takes the files in. Raises as `wired` does."""
    async with wired(wanted) as parts:
        return await pipeline.run(items, parts, on_event)


def chosen(given: argparse.Namespace) -> list[Item]:
    """The files to read. A manifest alone means all it names; with paths it only describes those.

    Raises InvalidArgument when there is nothing to read.
    """
    named = read_manifest(there("--manifest", given.manifest), given.root) if given.manifest else []
    if not given.paths:
        if not named:
            raise InvalidArgument("PATH", "give at least one file, or a manifest that names some")
        return named
    described = {item.path.resolve(): item for item in named}
    return [described.get(path.resolve()) or _undescribed(path, given.topic) for path in given.paths]


def there(argument: str, path: Path) -> Path:
    """The path, if there is such a file. Raises InvalidArgument."""
    if not path.exists():
        raise InvalidArgument(argument, f"there is no file {_printable(path)}")
    return path


def _undescribed(path: Path, topic: str) -> Item:
    return Item(path, path.name, Metadata(topic=topic))


def apart(items: Sequence[Item], topics: Sequence[str]) -> tuple[list[Item], list[Result]]:
    """The items to read, and the refusals: no topic, a bad name, different files that would get one id.

    Files of one id are refused all: as versions of one document the last to be read would replace the others.
    """
    by_id: defaultdict[str, list[Item]] = defaultdict(list)
    taken: list[Item] = []
    refused: list[Result] = []
    for item in items:
        if fault := _fault(item, topics):
            refused.append(Result(_printable(item.path), "failed", reason=fault))
        else:
            by_id[document_id_of(item.name, item.metadata)].append(item)
    for document_id, same in by_id.items():
        if len({item.path.resolve() for item in same}) == 1:
            taken += same
        else:
            refused += [_clash(item, document_id, same) for item in same]
    return taken, refused


def _fault(item: Item, topics: Sequence[str]) -> str:
    if item.name != _printable(item.name):
        return "name: must be UTF-8 text; rename the file"
    if not item.metadata.topic:
        return f"topic: give --topic, or a --manifest that says it; it must be one of {', '.join(topics)}"
    return ""


def _clash(item: Item, document_id: str, same: Sequence[Item]) -> Result:
    others = ", ".join(_printable(one.path) for one in same if one.path != item.path)
    reason = f"id: {document_id} would be the id of {others} too; rename a file, or give ids in a --manifest"
    return Result(_printable(item.path), "failed", reason=reason)


def _printable(name: str | Path) -> str:
    """A file's name; its bytes that are no text as \\udcXX."""
    return str(name).encode("utf-8", "backslashreplace").decode()


def plan(settings: Settings, environ: Mapping[str, str], approver: str) -> Plan:
    """The corpus path as the settings want it, its catalogue in the home; this user takes documents in."""
    home, tokenizer = places.home(settings, environ), places.tokenizer(settings, environ)
    return service.plan(settings, home, tokenizer, approver, person())


def person() -> str:
    """Who works here: the name of this process's user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return "cli"


def shown(screen: Terminal, files: int) -> OnEvent:
    """A bar on a screen; a line at once for each file that fails."""
    ended = 0

    def on_event(event: Event) -> None:
        nonlocal ended
        ended += event.result is not None
        if event.result and event.result.reason:
            reason = event.result.reason.replace(f"{event.file}: ", "", 1)  # a reader's own words name it too
            screen.note(f"{event.file}: {reason}")
        filled = BAR * ended // max(files, 1)
        stage = f"{event.stage} {event.file}" if event.stage else ""
        screen.progress(f"[{'#' * filled}{'.' * (BAR - filled)}] {ended}/{files} {stage}"[:78])

    return on_event


def report(screen: Terminal, summary: Summary) -> None:
    """The summary table."""
    headings = [one.replace("_", " ") for one in OUTCOMES]
    counts = [summary.count(one) for one in OUTCOMES]
    row = [str(count) for count in (*counts, summary.parents, summary.children)]
    screen.table((*headings, "parents", "children", "seconds"), [[*row, f"{summary.seconds:.1f}"]])
    if summary.count("in_review"):
        screen.text("in review: nobody can find those until they are approved (radrag kb review)")


def as_data(summary: Summary) -> dict[str, object]:
    """The summary for programs: documents by how they ended, and every file."""
    return {
        **{one: summary.count(one) for one in OUTCOMES},
        "parents": summary.parents,
        "children": summary.children,
        "seconds": round(summary.seconds, 3),
        "files": [asdict(result) for result in _by_file(summary.results)],
    }


def _by_file(results: Sequence[Result]) -> list[Result]:
    return sorted(results, key=lambda result: result.file)


def versions(summary: Summary) -> list[str]:
    """The versions a batch concerned, as `document@version`."""
    return [f"{one.document_id}@{one.version}" for one in summary.results if one.document_id]
