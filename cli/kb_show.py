"""`radrag kb show`: one version, its history, its other versions and what a reviewer should know."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from cli import kb
from cli.exits import Exit
from cli.terminal import Terminal
from ingest.catalogue.catalogue import Found
from ingest.catalogue.history import Event
from ingest.document import Document
from ingest.review_changes import Change, changes
from ingest.review_removals import removals

SHOWN = 80  # characters of what was taken out


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Shows it, or prints its Markdown alone."""
    async with kb.opened(environ) as curation:
        found = await curation.catalogue.show(given.document, given.version)
        before = await curation.catalogue.before(found.entry)
    changed = changes(before.text, found.document.text) if before else []
    if given.markdown:
        screen.piece(found.document.text)
    elif given.json:
        screen.json(as_data(found, changed))
    else:
        version(screen, found, changed)
        history(screen, found.history)
        screen.table(kb.HEADINGS, [kb.row(one) for one in found.versions])
    return Exit.OK


def version(screen: Terminal, found: Found, changed: Sequence[Change]) -> None:
    """What a reviewer has to know: metadata, flags, near-duplicates, and what changed."""
    entry, known = found.entry, found.entry.metadata
    screen.text(f"{entry.document_id}  version {entry.version}  {entry.state.value}", style="bold")
    screen.text(f"{entry.title} ({entry.language}, {known.topic}, {known.category})")
    screen.text(f"source {known.source_uri or '-'}  licence {known.licence or '-'}  read by {entry.engine}")
    children = sum(one.level == "child" for one in found.chunks)
    parents = sum(one.level == "parent" for one in found.chunks)
    size = f"{len(found.document.text):,} characters, {parents} parents"
    noisy = sum(one.level == "noise" for one in found.chunks)
    screen.text(f"{size}, {children} children, {noisy} more kept out of the search as noise")
    for line in removed(found.document):
        screen.text(line, indent=2)
    for line in read_by_ocr(found.document):
        screen.text(line)
    if entry.flags:
        screen.text(f"flags: {', '.join(entry.flags)}", style="bold yellow")
    for near in found.near:
        like = f"{near.likeness:.0%} like {near.document_id} version {near.version} ({near.state.value})"
        screen.text(f"{like}: {near.title}", style="yellow", indent=2)
    for one in changed:
        change(screen, one)


def removed(document: Document) -> list[str]:
    """What cleaning took out or repaired, a line for each rule, with how its largest removal begins."""
    return [
        f"cleaned {one.rule}: {one.count} ({one.characters:,} characters), as: {shortened(one.samples[0])}"
        for one in removals(document)
    ]


def shortened(text: str) -> str:
    """The text's beginning on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def read_by_ocr(document: Document) -> Iterator[str]:
    """A line for each engine besides the files' own text: its pages, and the one it was least sure of."""
    engines = sorted({one.engine for one in document.records if one.confidence is not None})
    for engine in engines:
        own = [one for one in document.records if one.engine == engine and one.confidence is not None]
        worst = min(own, key=lambda one: one.confidence or 0.0)
        why = f": {', '.join(worst.reasons)}" if worst.reasons else ""
        yield (
            f"{len(own)} of {len(document.records)} pages read by {engine}, "
            f"least sure of page {worst.page} ({worst.confidence:.2f}{why})"
        )


def change(screen: Terminal, one: Change) -> None:
    """A section that is not as it was, its lines marked as diff does."""
    screen.text(f"{one.kind}: {' › '.join(one.path) or '(before the first heading)'}", style="bold")
    for line in one.removed:
        screen.text(f"- {line}", style="red", indent=2)
    for line in one.added:
        screen.text(f"+ {line}", style="green", indent=2)


def history(screen: Terminal, events: Sequence[Event]) -> None:
    """Who did what, when and why."""
    rows = [(kb.instant(e.at), e.act.value, e.state.value, e.subject, e.reason) for e in events]
    screen.table(("when", "act", "state", "who", "why"), rows)


def as_data(found: Found, changed: Sequence[Change]) -> dict[str, object]:
    """All of it for programs, without the text."""
    return {
        **kb.as_data(found.entry),
        "characters": len(found.document.text),
        "chunks": [
            {"level": c.level, "start": c.start, "end": c.end, "tokens": c.tokens} for c in found.chunks
        ],
        "removals": [asdict(one) for one in found.document.removals],
        "pages": [
            {"page": r.page, "engine": r.engine, "confidence": r.confidence, "reasons": r.reasons}
            for r in found.document.records
        ],
        "page_ranges": [
            {"start": part.start, "end": part.end, "page": part.page} for part in found.document.pages
        ],
        "versions": [kb.as_data(one) for one in found.versions],
        "history": [
            {"at": kb.instant(e.at), "act": e.act, "state": e.state, "subject": e.subject, "reason": e.reason}
            for e in found.history
        ],
        "near_duplicates": [
            {
                "document_id": near.document_id,
                "version": near.version,
                "title": near.title,
                "state": near.state,
                "likeness": round(near.likeness, 3),
            }
            for near in found.near
        ],
        "changes": [
            {"heading_path": c.path, "kind": c.kind, "removed": c.removed, "added": c.added} for c in changed
        ],
    }
