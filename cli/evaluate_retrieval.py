"""`radrag eval retrieval`: lends a run the product's chunker, models, store and fusion."""

import argparse
import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from cli import evaluate_models, places, private_index
from cli.evaluate_parts import Cutter, Models
from cli.exits import Exit
from cli.private_index import PrivateIndex
from cli.terminal import Terminal
from evaluation import datasets, mixed, report, retrieval
from evaluation.bounded import Progress
from evaluation.cache import NumberCache
from evaluation.jsonl import DatasetError
from evaluation.provenance import provenance
from evaluation.retrieval import Plan, Product
from ingest.chunk import ChunkLimits
from ingest.parents import ParentLimits
from ingest.strategies import OVERLAP
from ingest.tokens import token_counter
from radrag.settings import SettingError, Settings
from retrieval.bm25 import STOP_WORDS, Bm25
from retrieval.fusion import Rrf
from retrieval.stock_words import StockWords

POOLINGS = {"chunk": "", "late": "_late", "blend": "_blend"}


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints the table, or everything as JSON."""
    values, result = await measured(given, screen, environ)
    if given.per_query:
        given.per_query.write_text(_lines(result), encoding="utf-8")
    if given.json:
        screen.json(values)
    else:
        _show(screen, values, result)
    return Exit.OK


async def measured(
    given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]
) -> tuple[dict[str, object], retrieval.Result]:
    """The run's values for JSON, and its result. Raises DatasetError, SettingError."""
    settings = _settings(given, environ)
    asked = dataset(given)
    plan = _plan(given, settings)
    async with AsyncExitStack() as stack:
        product, described = await _product(given, settings, places.home(settings, environ), stack)
        result = await retrieval.run(asked, product, plan, _progress(screen))
    return {"kind": "retrieval", "command": given.command} | _values(
        asked, result, {**asdict(plan), **described}
    ), result


def _settings(given: argparse.Namespace, environ: Mapping[str, str]) -> Settings:
    try:
        return Settings.from_environ({**environ, **given.settings})
    except SettingError as error:
        if not given.settings:
            raise
        raise DatasetError(given.config, 0, str(error)) from None


def dataset(given: argparse.Namespace) -> datasets.Dataset:
    """The data set asked for, or several as one. Raises DatasetError."""
    if not given.mixed:
        return mixed.loaded(given.dataset[0], given.split)
    folders = [below for folder in given.dataset for below in mixed.sets_below(folder)]
    return mixed.mixed([mixed.loaded(folder, given.split) for folder in folders])


def _plan(given: argparse.Namespace, settings: Settings) -> Plan:
    return Plan(
        topics=settings.topics,
        split_topics=given.split_topics,
        limit=given.limit,
        candidates=settings.candidates,
        fusion=given.fusion or settings.fusion,
        contexts=given.contexts or settings.sources,
        measures=tuple(given.measure) or Plan.measures,
        at_once=given.at_once,
    )


async def _product(
    given: argparse.Namespace, settings: Settings, home: Path, stack: AsyncExitStack
) -> tuple[Product, dict[str, object]]:
    embedder = settings.embedder_model + POOLINGS[given.pooling]
    names = (embedder,) if given.no_reranker else (embedder, settings.reranker_model)
    server = await stack.enter_async_context(evaluate_models.serving(settings, names))
    prints = [await evaluate_models.fingerprint(server, name) for name in names]
    caches = [NumberCache(home / "eval", one) for one in ("".join(prints[:1]), "".join(prints))]
    for cache in caches:
        stack.callback(cache.close)
    limits, rrf = _limits(settings, given.chunking, given.overlap), Rrf(settings.rrf_k, _weights(settings))
    cutter = Cutter(token_counter(places.ROOT / settings.embedder_tokenizer), limits)
    models = Models(server, embedder, settings.reranker_model, cutter.framed, *caches)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="radrag-eval-")))
    each = given.depth or settings.children_per_topic
    bm25 = _bm25(given.words, settings)
    index = PrivateIndex(folder, each, bm25)
    stack.push_async_callback(index.close)
    product = Product(
        chunk=cutter.chunk,
        embed=models.embed,
        embed_question=models.embed_question,
        index=index.add,
        search=index.search,
        fuse=partial(private_index.fuse, rrf=rrf, each=each, most=given.depth or settings.children),
        rerank=None if given.no_reranker else models.rerank,
    )
    return product, {
        "models": dict(zip(("embedder", "reranker"), names, strict=False)),
        "fingerprints_sha256": [hashlib.sha256(one.encode()).hexdigest() for one in prints],
        "children_per_topic": each,
        "chunking": asdict(limits),
        "words": given.words,
        "bm25_sha256": bm25.sha256,
        "rrf_k": rrf.k,
        "weights": dict(rrf.weights),
    }


def _limits(settings: Settings, strategy: str = "", overlap: float = OVERLAP) -> ChunkLimits:
    return ChunkLimits(
        ParentLimits(most=settings.max_parent_tokens),
        max_child_tokens=settings.max_child_tokens,
        min_child_characters=settings.min_child_characters,
        noise_threshold=settings.noise_threshold,
        strategy=strategy or settings.chunking,
        overlap=overlap,
    )


def _bm25(words: str, settings: Settings) -> Bm25:
    cut = None if words == "radrag" else StockWords(STOP_WORDS, words)
    return Bm25(k1=settings.bm25_k1, b=settings.bm25_b, avg_len=settings.bm25_avg_len, words=cut)


def _weights(settings: Settings) -> dict[str, float]:
    return {"dense": settings.dense_weight, "bm25": settings.bm25_weight}


def _values(
    dataset: datasets.Dataset, result: retrieval.Result, settings: dict[str, object]
) -> dict[str, object]:
    text = json.dumps(settings, sort_keys=True, default=str)
    return {
        "dataset": dataset.name,
        "split": dataset.split,
        "data_sha256": dataset.sha256,
        "unjudged_queries": dataset.unjudged_queries,
        "misplaced_answers": dataset.misplaced_answers,
        **asdict(replace(result, values={})),
        "settings": settings,
        "settings_sha256": hashlib.sha256(text.encode()).hexdigest(),
        **provenance(places.ROOT),
    }


def _lines(result: retrieval.Result) -> str:
    """A line for each question and row: query, row, and a value by measure."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row, by_measure in result.values.items():
        for name, by_query in by_measure.items():
            for query, value in by_query.items():
                found[query, row][name] = value
    lines = ({"query": query, "row": row, **values} for (query, row), values in found.items())
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _show(screen: Terminal, values: dict[str, object], result: retrieval.Result) -> None:
    name = " ".join(part for part in (str(values["dataset"]), str(values["split"])) if part)
    screen.text(
        f"{name}: {result.queries} questions, {result.documents} documents, "
        f"{result.parents} parents, {result.children} children; {result.seconds}"
    )
    if result.whole_in_child is not None:
        screen.text(
            f"the answer lies whole in one child for {result.whole_in_child:.3f}, "
            f"in one parent for {result.whole_in_parent:.3f} of the questions"
        )
    screen.table(*report.retrieval_table(result.rows))
    for group, rows in result.groups.items():
        screen.text(group)
        screen.table(*report.retrieval_table(rows))


def _progress(screen: Terminal) -> Progress:
    return lambda stage, done, total: screen.progress(f"{stage} {done} of {total}")
