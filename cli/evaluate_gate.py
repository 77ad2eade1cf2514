"""`radrag eval gate`: evidence in the sample knowledge base, found by words alone, against a stored baseline.

It needs no model and takes seconds: what it guards is words, weights, cutting and the measures themselves.
"""

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path

import yaml

from cli import places
from cli.exits import Exit
from cli.terminal import Terminal
from cli.word_index import FixedChunks, rankings
from evaluation import gate, questions
from evaluation.annotated import Annotated, AnnotatedSet
from evaluation.datasets import Document, Span, canonical
from evaluation.evidence_scores import scored
from evaluation.jsonl import DatasetError
from evaluation.measures import Mean, mean
from evaluation.normalised import Normalised
from radrag.settings import Settings

SAMPLES = places.ROOT / "samples"
MEASURES = ("nDCG@10", "Evidence@1", "Evidence@5", "SpanRecall@5")


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Status 1 when a figure has fallen out of the baseline's interval; --write keeps this run instead."""
    dataset = samples(SAMPLES)
    found = measured(dataset, places.tokenizer(Settings.from_environ(environ), environ))
    if given.write:
        gate.write(given.baseline, found, dataset.sha256)
    lost = gate.fallen(found, gate.read(given.baseline, dataset.sha256))
    shown = [[name, f"{one.mean:.3f}", f"{one.low:.3f}–{one.high:.3f}"] for name, one in found.items()]
    screen.table([f"{len(dataset.questions)} questions", "mean", "95 %"], shown)
    for sentence in lost:
        screen.note(sentence)
    return Exit.FAILURE if lost else Exit.OK


def measured(dataset: AnnotatedSet, tokenizer: Path) -> dict[str, Mean]:
    """BM25 over pieces of 128 tokens that overlap by a fifth."""
    chunking, texts = FixedChunks(dataset, tokenizer).cut(128, 0.2)
    found = rankings({one.id: one.text for one in dataset.questions}, texts, 20)
    values = scored(found, {one.id: one.evidence for one in dataset.questions}, chunking, ["nDCG@10"])
    return {name: mean(list(values[name].values())) for name in MEASURES}


def samples(folder: Path) -> AnnotatedSet:
    """The sample documents whose source is Markdown, and the calibration questions in their language."""
    manifest = yaml.safe_load((folder / "manifest.yaml").read_text(encoding="utf-8"))
    files = {one["id"]: folder / "documents" / one["file"] for one in manifest["documents"]}
    sources = {name: (file, file.with_name(f"{file.name}.md")) for name, file in files.items()}
    listed = {name: p for name, both in sources.items() for p in both if p.suffix == ".md" and p.exists()}
    raw = {name: canonical(path.read_text(encoding="utf-8")) for name, path in listed.items()}
    texts = {name: Normalised.of(text) for name, text in raw.items()}
    asked_of_samples = questions.load(folder / "calibration.jsonl")
    every = (_annotated(one, texts) for one in asked_of_samples if not one.cross_language)
    asked = [one for one in every if one.evidence]
    if not asked:
        raise DatasetError(folder, 0, "has no question whose evidence stands in a Markdown source")
    digest = hashlib.sha256("\0".join([*raw.values(), *(repr(one) for one in asked)]).encode()).hexdigest()
    return AnnotatedSet("samples", [Document(name, "", text) for name, text in raw.items()], asked, digest)


def _annotated(question: questions.Question, texts: Mapping[str, Normalised]) -> Annotated:
    """The question with its quotes' places; without evidence when a quote is in none of these documents."""
    paths = []
    for path in question.evidence:
        found = [(q.document, texts[q.document].find(q.text)) for q in path if q.document in texts]
        if len(found) == len(path) and all(spans for _, spans in found):
            paths.append(tuple(Span(name, *spans[0]) for name, spans in found))
    return Annotated(question.id, question.text, tuple(paths), question.topic, question.language)
