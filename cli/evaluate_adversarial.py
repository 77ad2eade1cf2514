"""`radrag eval adversarial`: how many answers that try to pass as supported the gateway's checks catch.

Each suite is a file and has its own rows. Nothing runs behind it: the checks are pure.
"""

import argparse
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from cli import places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import adversarial
from evaluation.adversarial import Case, Rate, Seen, Source
from gateway.answer import Kind, Outcome, Prompt
from gateway.passage import Document, Passage, Scores
from gateway.verify import Verification

SUITES = tuple(
    places.ROOT / "evaluation" / f"{name}.yaml"
    for name in ("adversarial", "adversarial_independent", "adversarial_held_out")
)
"""The second was written without knowing the checks or the first; the third after repairs."""


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints a row per suite and kind, then the cases that went wrong. Status 1 when one is too low."""
    suites = [_measured(path) for path in given.cases or SUITES]
    if given.json:
        screen.json({"suites": [one.as_json() for one in suites]})
    else:
        screen.table(
            ("suite", "kind", "cases", "right", "share"), [row for one in suites for row in one.rows()]
        )
        for one in suites:
            for case in one.wrong:
                screen.text(f"wrong: {one.name}: {case.kind}: {case.answer}")
    least = dict.fromkeys((adversarial.TRUE, adversarial.REFUSAL), given.least_true)
    low = [rate for one in suites for rate in one.rates if rate.share < least.get(rate.kind, given.least)]
    return Exit.FAILURE if low else Exit.OK


@dataclass(frozen=True)
class Suite:
    """What came of one file: its name, the rates of its kinds, and the cases that went wrong."""

    name: str
    rates: list[Rate]
    wrong: list[Case]

    def rows(self) -> list[list[str]]:
        """A row of the table for each kind."""
        return [
            [self.name, one.kind, str(one.cases), str(one.right), f"{100 * one.share:.1f} %"]
            for one in self.rates
        ]

    def as_json(self) -> dict[str, object]:
        """The same for a machine."""
        kinds = [asdict(one) for one in self.rates]
        return {"suite": self.name, "kinds": kinds, "wrong": [one.answer for one in self.wrong]}


def _measured(path: Path) -> Suite:
    return Suite(path.stem, *adversarial.rates(adversarial.load(path), seen))


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
