"""`radrag eval scope`: what the gates of `scope.yaml` stop, and what they stop without reason.

It needs an embedder only, and no index: the gates see the question alone.
"""

import argparse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from cli import evaluate_models, places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import deferrals
from evaluation.bounded import each
from evaluation.deferrals import Asked, Judged
from evaluation.provenance import provenance
from gateway import scope
from gateway.index import Index
from gateway.models import Embedder, Weights
from gateway.nearness import Nearness
from gateway.scope import Scope
from radrag.settings import Settings
from radrag.triton import ModelServer


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints a row per set and gate. Status 1 when a question of ours was stopped more often than allowed."""
    settings = Settings.from_environ(environ)
    path = settings.scope if settings.scope.exists() else places.ROOT / settings.scope
    async with evaluate_models.serving(settings, (settings.embedder_model,)) as server:
        judge = await _judge(scope.load(path), server, settings.embedder_model)
        counts = []
        for file in given.sets:
            asked = deferrals.load(file, given.limit)
            counts += deferrals.counted(_name(file), await each(judge, asked, 4, "asking", _shown(screen)))
    if given.json:
        screen.json({"counts": [asdict(one) for one in counts], **provenance(places.ROOT)})
    else:
        rows = [
            [one.name, str(one.questions), str(one.by_pattern), str(one.by_vector), str(one.stopped),
             f"{100 * one.stopped / one.questions:.1f} %"]
            for one in counts
        ]  # fmt: skip
        screen.table(("set and gate", "questions", "by pattern", "by vector", "stopped", "share"), rows)
    ours = [one for one in counts if one.name.endswith(" ours")]
    stopped, all_ours = sum(one.stopped for one in ours), sum(one.questions for one in ours)
    screen.note(f"false deferrals: {stopped} of {all_ours}")
    return Exit.OK if stopped <= given.most_false * all_ours else Exit.FAILURE


async def _judge(gates: Scope, server: ModelServer, model: str) -> Callable[[Asked], Awaitable[Judged]]:
    async def index() -> Index:
        return Index("", 0, model)

    embedder = Embedder(server, Weights(server), index, model, 0)
    nearness = Nearness(gates, embedder.model, embedder.embed)
    await nearness.renew()

    async def judged(asked: Asked) -> Judged:
        near = nearness.gate(await embedder.embed(asked.text))
        return Judged(asked.gate, gates.stops(asked.text), near or "")

    return judged


def _name(file: Path) -> str:
    return "/".join(file.with_suffix("").parts[-2:])


def _shown(screen: Terminal) -> Callable[[str, int, int], None]:
    return lambda stage, done, of: screen.progress(f"{stage} {done} of {of}")
