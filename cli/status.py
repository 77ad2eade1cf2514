"""`radrag status`: each process with its address and health, the models, and what the index holds."""

import argparse
from collections.abc import Mapping, Sequence

from cli import index, services
from cli.exits import Exit
from cli.supervision import Service
from cli.terminal import Terminal
from radrag.access import channels
from radrag.errors import RadragError
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.settings import Settings

State = dict[str, object]


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 0 when all is up and ready, 5 when anything is not."""
    settings = Settings.from_environ(environ)
    profile = services.profile(settings, environ)
    states = [await _state(service) for service in profile.services]
    held = await _index(settings)
    if given.json:
        screen.json({"services": states, "index": held and _counts(held)})
    else:
        _show(screen, states, held)
    return Exit.OK if all(state["ready"] for state in states) else Exit.UNAVAILABLE


async def _state(service: Service) -> State:
    process = service.child.running()
    missing = list(await service.missing())
    return {
        "name": service.child.name,
        "pid": process.pid if process else None,
        "address": f"{service.ports[0].host}:{service.ports[0].number}",
        "ready": not missing,
        "waits_for": missing,
        "log": str(service.child.log),
    }


async def _index(settings: Settings) -> pb.DescribeResponse | None:
    channels.show_credential(settings, settings.retrieval_address)
    try:
        return await index.describe(settings.retrieval_address, channels.channel_files(settings))
    except RadragError:  # shown as a service that is not ready
        return None


def _counts(held: pb.DescribeResponse) -> State:
    return {
        "generation": held.generation,
        "revision": held.revision,
        "store": held.store,
        "topics": [
            {"topic": t.topic, "documents": t.documents, "parents": t.parents, "children": t.children}
            for t in held.topics
        ],
    }


def _show(screen: Terminal, states: Sequence[State], held: pb.DescribeResponse | None) -> None:
    rows = [(str(s["name"]), str(s["pid"] or "-"), str(s["address"]), _word(s)) for s in states]
    screen.table(("service", "pid", "address", "state"), rows)
    if held is None:
        return
    screen.text(f"index: generation {held.generation or '-'}, revision {held.revision}, store {held.store}")
    counts = [(t.topic, str(t.documents), str(t.parents), str(t.children)) for t in held.topics]
    screen.table(("topic", "documents", "parents", "children"), counts)


def _word(state: State) -> str:
    if state["ready"]:
        return "ready" if state["pid"] else "ready, not started by `radrag up`"
    return f"waits for {', '.join(map(str, state['waits_for']))}" if state["pid"] else "down"  # type: ignore[call-overload]
