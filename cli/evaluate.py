"""`radrag eval …`: its own arguments, and which module runs each measurement."""

import argparse
import importlib
from collections.abc import Mapping
from pathlib import Path

from cli.exits import Exit
from cli.terminal import Terminal
from evaluation.jsonl import DatasetError


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Reads the words after `eval` and runs the measurement they name."""
    inner = parser().parse_args(given.words)
    command = importlib.import_module(inner.module)
    try:
        return int(await command.run(inner, screen, environ))
    except DatasetError as error:
        screen.note(f"radrag eval: {error}")
        return Exit.USAGE


def parser() -> argparse.ArgumentParser:
    """The arguments of every measurement."""
    top = argparse.ArgumentParser(prog="radrag eval", description="Measure how good it is.")
    commands = top.add_subparsers(required=True, metavar="WHAT")
    _retrieval(commands)
    return top


def _retrieval(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("retrieval", help="BM25, dense, fusion and reranker on a BEIR folder")
    command.set_defaults(module="cli.evaluate_retrieval")
    command.add_argument("dataset", type=Path, help="folder with corpus.jsonl, queries.jsonl and qrels")
    command.add_argument("--split", default="", help="test, train, … where the set has splits")
    command.add_argument(
        "--split-topics", choices=("hash", "kmeans"), default="", help="spread the documents over the topics"
    )
    command.add_argument("--limit", type=int, default=0, metavar="N", help="ask only N questions")
    command.add_argument("--pooling", choices=("chunk", "late", "blend"), default="chunk")
    command.add_argument("--fusion", choices=("global", "per_collection"), help="the one that is reranked")
    command.add_argument(
        "--depth", type=int, default=0, metavar="N", help="children per leg and topic, and in all"
    )
    command.add_argument("--measure", action="append", default=[], help="ir_measures name; repeatable")
    command.add_argument("--no-reranker", action="store_true")
    command.add_argument("--at-once", type=int, default=4, metavar="N", help="calls running at once (4)")
    command.add_argument("--json", action="store_true", help="print JSON")
