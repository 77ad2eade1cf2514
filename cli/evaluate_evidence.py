"""`radrag eval evidence`: one ranking scored twice, by the chunk id somebody annotated and by spans."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from cli import places
from cli.exits import Exit
from cli.terminal import Terminal
from cli.word_index import FixedChunks, rankings
from evaluation import annotated, datasets, report
from evaluation.annotated import AnnotatedSet
from evaluation.evidence_scores import naive, scored
from evaluation.measures import Mean, mean
from evaluation.provenance import provenance
from radrag.settings import Settings

COMPARED = {"R@1": "Evidence@1", "R@5": "Evidence@5", "RR@10": "RR@10", "nDCG@10": "nDCG@10"}
"""The measure by chunk ids, and what it means to measure, by spans."""
OURS = ("SpanPrecision@5", "SpanIoU@5")


@dataclass(frozen=True)
class Cell:
    """One chunking: how much evidence one chunk holds whole, and each measure by either truth."""

    tokens: int
    overlap: float
    chunks: int
    whole: float  # share of questions with a path each span of which lies in one chunk
    naive: dict[str, Mean]
    aware: dict[str, Mean]
    error: dict[str, Mean]  # naive less aware, question by question


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints a table of chunk sizes and overlaps."""
    settings = Settings.from_environ(environ)
    dataset = loaded(given.dataset, given.split)
    cells = []
    for cell in _cells(dataset, given, places.tokenizer(settings, environ)):
        screen.progress(f"{cell.tokens} tokens, overlap {cell.overlap:.0%}")
        cells.append(cell)
    if given.json:
        values = {
            "kind": "evidence",
            "command": given.command,
            "dataset": dataset.name,
            "data_sha256": dataset.sha256,
        }
        screen.json(values | {"cells": [asdict(cell) for cell in cells], **provenance(places.ROOT)})
    elif given.markdown:
        screen.text(report.markdown(table(cells)))
    else:
        screen.table(*table(cells))
    return Exit.OK


def loaded(folder: Path, split: str) -> AnnotatedSet:
    """A data set of our layout, or a BEIR folder whose queries have answers. Raises DatasetError."""
    if annotated.is_ours(folder):
        return annotated.load(folder)
    return annotated.of_beir(datasets.load(folder, split))


def table(cells: list[Cell]) -> report.Table:
    """A row per chunking; a measure shows chunk ids → spans (by how much the first errs)."""
    pairs = [name if name == aware else f"{name} → {aware}" for name, aware in COMPARED.items()]
    headings = ["tokens", "overlap", "chunks", "whole in one", *pairs, *OURS]
    body = [
        [str(one.tokens), f"{one.overlap:.0%}", str(one.chunks), f"{one.whole:.3f}"]
        + [_pair(one.naive[name], one.aware[COMPARED[name]], one.error[name]) for name in COMPARED]
        + [f"{one.aware[name].mean:.3f}" for name in OURS]
        for one in cells
    ]
    return headings, body


def _pair(naive_mean: Mean, aware: Mean, error: Mean) -> str:
    return f"{naive_mean.mean:.3f} → {aware.mean:.3f} ({error.mean:+.3f})"


def _cells(dataset: AnnotatedSet, given: argparse.Namespace, tokenizer: Path) -> Iterator[Cell]:
    cutter = FixedChunks(dataset, tokenizer)
    for tokens, percent in product(given.sizes, given.overlaps):
        yield _cell(dataset, cutter, tokens, percent / 100)


def _cell(dataset: AnnotatedSet, cutter: FixedChunks, tokens: int, overlap: float) -> Cell:
    chunking, texts = cutter.cut(tokens, overlap)
    asked = [question for question in dataset.questions if question.answerable]
    evidence = {one.id: one.evidence for one in asked}
    found = rankings({one.id: one.text for one in asked}, texts, 100)
    by_chunk = naive(found, evidence, chunking, list(COMPARED))
    by_span = scored(found, evidence, chunking, ["RR@10", "nDCG@10"], depths=(1, 5))
    mapped = [chunking.mapped(paths) for paths in evidence.values()]
    whole = [any(all(min(map(len, s), default=0) == 1 for s in path) for path in m.paths) for m in mapped]
    error = {
        name: [by_chunk[name][one] - by_span[aware][one] for one in evidence]
        for name, aware in COMPARED.items()
    }
    return Cell(
        tokens,
        overlap,
        len(texts),
        sum(whole) / len(whole),
        {name: mean(list(values.values())) for name, values in by_chunk.items()},
        {name: mean(list(values.values())) for name, values in by_span.items()},
        {name: mean(values) for name, values in error.items()},
    )
