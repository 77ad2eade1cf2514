"""`radrag eval audit`: what ranks high without being annotated, and how scores move with the annotation."""

import argparse
from collections.abc import Mapping

from cli import places
from cli.evaluate_evidence import loaded
from cli.exits import Exit
from cli.terminal import Terminal
from cli.word_index import FixedChunks, rankings
from evaluation import curation, report
from evaluation.datasets import Span
from evaluation.evidence_scores import scored
from evaluation.measures import mean
from radrag.settings import Settings

MEASURES = ("Evidence@1", "Evidence@5", "RR@10", "nDCG@10")


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Writes the candidates, or reads a person's decisions; the ranking stays as it is."""
    dataset = loaded(given.dataset, given.split)
    cutter = FixedChunks(dataset, places.tokenizer(Settings.from_environ(environ), environ))
    chunking, texts = cutter.cut(given.tokens, 0.2)
    asked = [one for one in dataset.questions if one.answerable]
    found = rankings({one.id: one.text for one in asked}, texts, 100)
    listed = curation.candidates(asked, found, chunking, dataset.texts, depth=given.depth, least=given.least)
    evidence = {one.id: one.evidence for one in asked}
    ways = {"as annotated": evidence}
    if given.curated:
        ways["as curated"] = curation.extended(evidence, curation.accepted(given.curated, dataset.texts))
    every: dict[str, list[Span]] = {}
    for one in listed:
        every.setdefault(one.question, []).append(Span(one.document, one.start, one.end))
    ways["all candidates accepted"] = curation.extended(evidence, every)
    body = []
    for name, paths in ways.items():
        values = scored(found, paths, chunking, ["RR@10", "nDCG@10"], depths=(1, 5))
        body.append([name, *(f"{mean(list(values[measure].values())).mean:.3f}" for measure in MEASURES)])
    if given.out:
        curation.write(listed, given.out)
    screen.text(f"{len(listed)} candidates for {len(every)} of {len(asked)} questions")
    table = (["the same ranking, scored", *MEASURES], body)
    if given.markdown:
        screen.text(report.markdown(table))
    else:
        screen.table(*table)
    return Exit.OK
