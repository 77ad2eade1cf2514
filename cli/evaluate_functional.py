"""`radrag eval functional`: the question set through a running service, or through one of its own."""

import argparse
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

from cli import distractors, evaluate_instance, evaluate_service, ingest, places
from cli.evaluate_parts import Cutter
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import datasets, functional, questions, report, tally
from evaluation.functional import Service, Verdict
from evaluation.provenance import provenance
from gateway import __main__ as gateway_process
from gateway import messages, scope
from ingest.manifest import Item, read_manifest
from ingest.tokens import token_counter
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints the table and the failures. Status 1 when a share is below what `--require` asks for."""
    asked = questions.load(given.questions)
    verdicts = await _verdicts(given, asked, screen, environ)
    groups, failed = tally.groups(verdicts), tally.failures(verdicts)
    if given.json:
        screen.json(_values(given, verdicts, groups))
    elif given.markdown:
        screen.text(report.markdown(report.functional_table(groups)))
        screen.text("\n" + report.markdown(report.failure_table(failed)))
    else:
        screen.table(*report.functional_table(groups))
        screen.table(*report.failure_table(failed))
    degraded = sum(bool(one.missing) for one in verdicts)
    if degraded:
        screen.note(f"{degraded} of {len(verdicts)} replies were degraded: a part was missing or too slow")
    short = tally.below(groups["all"], dict(given.require))
    for sentence in short:
        screen.note(sentence)
    return Exit.FAILURE if short else Exit.OK


async def _verdicts(
    given: argparse.Namespace,
    asked: Sequence[questions.Question],
    screen: Terminal,
    environ: Mapping[str, str],
) -> list[Verdict]:
    settings = Settings.from_environ(environ)
    async with AsyncExitStack() as stack:
        if given.own or given.distractors:
            items = read_manifest(given.samples / "manifest.yaml")
            home = places.home(settings, environ) / "eval" / _name(given)
            items += _distractors(given, settings, environ, home)
            settings = await stack.enter_async_context(evaluate_instance.served(home, items, screen, environ))
        if given.without_reranker:
            settings = await stack.enter_async_context(without_reranker(settings))
        running = await stack.enter_async_context(evaluate_service.running(settings))
        service = Service(running.generate, running.candidate_documents, _fixed(settings))
        return await functional.run(
            asked, service, given.at_once, lambda stage, done, of: screen.progress(f"{stage} {done} of {of}")
        )


def _name(given: argparse.Namespace) -> str:
    """Other distractors, another index."""
    return "-".join(["functional", str(given.distractors), *(path.name for path in given.distractors_from)])


@asynccontextmanager
async def without_reranker(settings: Settings) -> AsyncIterator[Settings]:
    """A gateway of this process beside the running one, whose reranker is as good as killed."""
    dead = replace(
        settings,
        gateway_address="127.0.0.1:0",
        reranker_url="127.0.0.1:1",
        model_patience_seconds=0.0,
        insecure_dev=True,  # for the evaluation alone, on this machine
        callers_file="",
        jwt_issuer="",
    )
    async with gateway_process.running(dead) as server:
        yield replace(settings, gateway_address=f"127.0.0.1:{server.port}")


def _distractors(
    given: argparse.Namespace, settings: Settings, environ: Mapping[str, str], home: Path
) -> list[Item]:
    if not given.distractors:
        return []
    plan = ingest.plan(settings, environ, "")
    cutter = Cutter(token_counter(plan.tokenizer), plan.chunks)

    def count(document: datasets.Document) -> int:
        return sum(len(parent.children) for parent in cutter.chunk(document))

    return distractors.distractors(
        given.distractors_from, given.distractors, settings.topics, count, home / "distractors"
    )


def _fixed(settings: Settings) -> set[str]:
    paths = [one if one.exists() else places.ROOT / one for one in (settings.messages, settings.scope)]
    known = messages.load(paths[0], scope.load(paths[1]).deferrals)
    return {text for texts in known.texts.values() for text in texts.values()}


def _values(
    given: argparse.Namespace, verdicts: Sequence[Verdict], groups: Mapping[str, tally.Tally]
) -> dict[str, object]:
    return {
        "kind": "functional",
        "command": given.command,
        "questions_sha256": questions.sha256(given.questions),
        "distractors": given.distractors,
        "groups": {name: asdict(one) for name, one in groups.items()},
        "failures": [one.question.id for one in tally.failures(verdicts)],
        "verdicts": [report.verdict_values(one) for one in verdicts],
        **provenance(places.ROOT),
    }
