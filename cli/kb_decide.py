"""`radrag kb approve | reject | publish | retire | retry | delete`: one decision on a version or document."""

import argparse
from collections.abc import Awaitable, Callable, Mapping
from datetime import date

from cli import ingest, kb
from cli.audited import audited
from cli.exits import Exit
from cli.terminal import Terminal
from ingest import work
from ingest.catalogue.entry import Entry
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act, State
from ingest.curation import Curation
from ingest.wiring import connected
from radrag.errors import FailedPrecondition, InvalidArgument, NotFound
from radrag.settings import Settings

# What a version needs before it can be published, by the state it is in.
TO_DO = {
    State.DISCOVERED: "ingest its file again",
    State.PARSED: "ingest its file again",
    State.FAILED: "ingest its file again",
    State.IN_REVIEW: "approve it first (radrag kb review, or radrag kb approve)",
    State.REJECTED: "reopen it (radrag kb retry) and approve it first",
    State.RETIRED: "reopen it (radrag kb retry) and approve it first",
    State.SUPERSEDED: "reopen it (radrag kb retry) and approve it first",
}
Publish = Callable[[Entry], Awaitable[None]]
Decide = Callable[[argparse.Namespace, Curation, str], Awaitable[list[str]]]


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Decides as this process's user; says which versions came to what."""
    with audited(f"kb {given.action}", ingest.person(), environ) as told:
        said = await decided(given, environ)
        states = sorted({one["state"] for one in said})
        told.note(" ".join(states), [f"{one['document_id']}@{one['version']}" for one in said])
    if given.json:
        screen.json(said)
    else:
        screen.table(("document", "version", "state"), [tuple(map(str, one.values())) for one in said])
    return Exit.OK


async def decided(given: argparse.Namespace, environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Does it; the versions it concerned, with their states now."""
    async with kb.opened(environ) as curation:
        if given.action == "publish":
            entry = await publishable(given, curation)
            versions = [entry.version]
            await publisher(curation, environ)(entry)
        else:
            versions = await DECISIONS[given.action](given, curation, ingest.person())
            if given.action == "approve" and given.publish:
                await publish_approved(given.document, versions, curation, environ)
        return await outcome(given.document, versions, curation)


async def publishable(given: argparse.Namespace, curation: Curation) -> Entry:
    """The version to publish. Raises FailedPrecondition where there is one, but in no state for that."""
    try:
        return await curation.catalogue.publishable(given.document, given.version)
    except NotFound:
        entry = await curation.catalogue.find(given.document, given.version)  # NotFound where there is none
        what = f"{given.document}@{entry.version} is {entry.state.value.replace('_', ' ')}"
        wanted = TO_DO.get(entry.state, "try again")  # approved this very moment
        raise FailedPrecondition(f"{what}: {wanted}", "NOT_APPROVED") from None


def publisher(curation: Curation, environ: Mapping[str, str]) -> Publish:
    """Publishes a version, with the models and the index as the settings have them."""
    plan = ingest.plan(Settings.from_environ(environ), environ, "")

    async def publish(entry: Entry) -> None:
        async with connected(plan, curation.catalogue) as parts:
            await work.publish(entry, curation.catalogue, parts)

    return publish


async def publish_approved(
    document: str, versions: list[str], curation: Curation, environ: Mapping[str, str]
) -> None:
    """Publishes what is approved by now; with two people to approve, the first one's waits."""
    entry = await curation.catalogue.find(document, versions[0])
    if entry.state is State.APPROVED:
        await publisher(curation, environ)(entry)


async def outcome(document: str, versions: list[str], curation: Curation) -> list[dict[str, str]]:
    """The versions decided on, with their states now."""
    states = {one.version: one.state.value for one in reversed(await curation.catalogue.of(document))}
    return [
        {"document_id": document, "version": one, "state": states.get(one, State.DELETED.value)}
        for one in versions
    ]


async def approve(given: argparse.Namespace, curation: Curation, subject: str) -> list[str]:
    version = needed(given)
    entry = await curation.catalogue.approve(given.document, version, subject, given.reason, curation.needed)
    return [entry.version]


async def reject(given: argparse.Namespace, curation: Curation, subject: str) -> list[str]:
    entry = await curation.catalogue.reject(given.document, needed(given), subject, given.reason)
    return [entry.version]


async def retire(given: argparse.Namespace, curation: Curation, subject: str) -> list[str]:
    last = day(given.day)
    act = Act.END if last else Act.RETIRE
    return await curation.retire(Intent(act, given.document, given.version, subject, given.reason, last))


async def retry(given: argparse.Namespace, curation: Curation, subject: str) -> list[str]:
    entry = await curation.catalogue.find(given.document, given.version)
    if not entry.version:
        raise FailedPrecondition("it could not be read: ingest its file again", "NO_TEXT")
    await curation.catalogue.retry(given.document, entry.version, subject, given.reason)
    return [entry.version]


async def delete(given: argparse.Namespace, curation: Curation, subject: str) -> list[str]:
    return await curation.delete(Intent(Act.DELETE, given.document, given.version, subject, given.reason))


DECISIONS: dict[str, Decide] = {
    "approve": approve,
    "reject": reject,
    "retire": retire,
    "retry": retry,
    "delete": delete,
}


def needed(given: argparse.Namespace) -> str:
    """The version, which a review must name: a newer one may have come in since it was read."""
    if not given.version:
        raise InvalidArgument("--version", "is required: a decision is for one very version")
    return str(given.version)


def day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidArgument("--from", "must be a day, YYYY-MM-DD") from None
