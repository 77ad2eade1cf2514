"""`radrag eval adversarial`: how many answers that try to pass as supported the gateway's checks catch.

Nothing runs behind it: the checks are pure.
"""

import argparse
import re
from collections.abc import Mapping
from dataclasses import asdict

from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import adversarial
from evaluation.adversarial import Case, Seen, Source
from gateway.answer import Kind, Outcome, Prompt
from gateway.passage import Document, Passage, Scores
from gateway.verify import Verification


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints a row per kind, then the cases that went wrong. Status 1 when a kind is below `--least`."""
    cases = adversarial.load(given.cases)
    rates, wrong = adversarial.rates(cases, seen)
    if given.json:
        screen.json({"kinds": [asdict(one) for one in rates], "wrong": [one.answer for one in wrong]})
    else:
        rows = [[one.kind, str(one.cases), str(one.right), f"{100 * one.share:.1f} %"] for one in rates]
        screen.table(("kind", "cases", "right", "share"), rows)
        for case in wrong:
            screen.text(f"wrong: {case.kind}: {case.answer}")
    return Exit.FAILURE if any(one.share < given.least for one in rates) else Exit.OK


def seen(case: Case) -> Seen:
    """What the gateway lets through of the case's answer."""
    prompt = Prompt("", tuple(_passage(one) for one in case.sources))
    checked = Verification(prompt, case.language)
    text = checked.feed(case.answer) + checked.end(cut=False)
    kinds = {warning.kind for warning in checked.warnings}
    return Seen(
        checked.outcome is Outcome.ANSWERED,
        checked.refused,
        tuple(int(number) for number in re.findall(r"\[(\d+)\]", text)),
        tuple(citation.verified for citation in checked.citations),
        Kind.UNSUPPORTED_SENTENCE in kinds,
        Kind.PARTIAL_ANSWER in kinds,
    )


def _passage(source: Source) -> Passage:
    document = Document(
        source.name, "1", source.title, "", "safety", "article", 3, source.language, "2026-01-01"
    )
    return Passage(source.name, document, (), source.text, "", 0, len(source.text), (), (), Scores())
