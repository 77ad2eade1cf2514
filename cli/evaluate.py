"""`radrag eval …`: its own arguments, and which module runs each measurement."""

import argparse
import importlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from cli import evaluate_arguments, evaluate_configuration, evaluate_reading_arguments, places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import measures
from evaluation.calibrate import KEEP, NoThreshold
from evaluation.jsonl import DatasetError
from evaluation.tally import REQUIRABLE

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

SAMPLES = places.ROOT / "samples"


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Reads the words after `eval` and runs the measurement they name."""
    try:
        inner = configured(given.words)
        command = importlib.import_module(inner.module)
        return int(await command.run(inner, screen, environ))
    except DatasetError as error:
        screen.note(f"radrag eval: {error}")
        return Exit.USAGE
    except NoThreshold as error:
        screen.note(f"radrag eval: {error}")
        return Exit.FAILURE


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """The arguments after `eval`. Exits with status 2 and a usage line when they are wrong."""
    top = parser()
    given = top.parse_args(words)
    given.command = shlex.join(["radrag", "eval", *words])  # what redoes a result stands beside it
    if getattr(given, "distractors", 0) and not given.distractors_from:
        top.error("--distractors needs --distractors-from FOLDER")
    if getattr(given, "mixed", False) and given.split_topics:
        top.error("--mixed gives each set its topic, --split-topics spreads one: not both")
    if not getattr(given, "mixed", True) and len(given.dataset) > 1:
        top.error("several data sets are measured together with --mixed")
    if getattr(given, "labels_for", None) and not given.labels:
        top.error("--labels-for needs --labels FILE")
    return given


def configured(words: Sequence[str]) -> argparse.Namespace:
    """As `parsed`; a file named by --config speaks first, the words after it win. Raises DatasetError."""
    given = parsed(words)
    if getattr(given, "config", None) is None:
        return given
    more, settings = evaluate_configuration.configured(given.config, words)
    whole = parsed([words[0], *more, *words[1:]])
    whole.settings, whole.command = settings, given.command
    return whole


def parser() -> argparse.ArgumentParser:
    """The arguments of every measurement."""
    top = argparse.ArgumentParser(prog="radrag eval", description="Measure how good it is.")
    commands = top.add_subparsers(required=True, metavar="WHAT")
    _retrieval(commands)
    _functional(commands)
    _calibrate(commands)
    _scope(commands)
    _adversarial(commands)
    evaluate_reading_arguments.add(commands)
    evaluate_arguments.add(commands)
    return top


def _retrieval(commands: Commands) -> None:
    command = commands.add_parser("retrieval", help="BM25, dense, fusion and reranker on a data set")
    command.set_defaults(module="cli.evaluate_retrieval", settings={})
    command.add_argument(
        "dataset", type=Path, nargs="+",
        help="folder with corpus.jsonl, queries.jsonl and qrels, or with documents.jsonl and questions.jsonl",
    )  # fmt: skip
    command.add_argument(
        "--mixed", action="store_true", help="all sets given, or all below the folder, one per topic"
    )
    command.add_argument(
        "--config", type=Path, metavar="FILE", help="YAML as in evaluation/grids, one configuration"
    )
    command.add_argument("--split", default="", help="test, train, … where the set has splits")
    command.add_argument(
        "--split-topics", choices=("hash", "kmeans"), default="", help="spread the documents over the topics"
    )
    command.add_argument("--limit", type=int, default=0, metavar="N", help="ask only N questions")
    command.add_argument("--pooling", choices=("chunk", "late", "blend"), default="chunk")
    command.add_argument("--chunking", choices=("parent_child", "fixed", "recursive"), default="")
    command.add_argument(
        "--overlap", type=float, default=0.125, metavar="SHARE", help="of fixed pieces (0.125)"
    )
    command.add_argument("--fusion", choices=("global", "per_collection"), help="the one that is reranked")
    command.add_argument(
        "--depth", type=int, default=0, metavar="N", help="children per leg and topic, and in all"
    )
    command.add_argument(
        "--contexts", type=int, default=0, metavar="N", help="parents that the generator would be given"
    )
    command.add_argument(
        "--words", choices=("radrag", "english", "russian"), default="radrag",
        help="how BM25 cuts words: ours, or the stock way of one language",
    )  # fmt: skip
    command.add_argument(
        "--measure", action="append", type=_measure, default=[], metavar="NAME",
        help="as ir_measures has it, or ChildSpan@k, ParentSpan@k, SpanRecall@k, SpanPrecision@k, SpanIoU@k",
    )  # fmt: skip
    command.add_argument("--no-reranker", action="store_true")
    command.add_argument(
        "--per-query", type=Path, metavar="FILE", help="write each question's values as JSONL"
    )
    command.add_argument("--at-once", type=int, default=4, metavar="N", help="calls running at once (4)")
    command.add_argument("--json", action="store_true", help="print JSON")


def _functional(commands: Commands) -> None:
    command = commands.add_parser("functional", help="the question set through a running service")
    command.set_defaults(module="cli.evaluate_functional")
    _questions(command, "questions.jsonl")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print Markdown tables")
    form.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--require", type=_requirement, action="append", default=[], metavar="NAME=SHARE",
        help=f"status 1 when lower; repeatable: {', '.join(REQUIRABLE)}",
    )  # fmt: skip
    command.add_argument(
        "--without-reranker",
        action="store_true",
        help="as if it had been killed: what is left must refuse rightly",
    )
    command.add_argument(
        "--distractors",
        type=int,
        default=0,
        metavar="N",
        help="in an instance of its own, among N more children",
    )
    command.add_argument(
        "--distractors-from", type=Path, action="append", default=[], metavar="FOLDER",
        help="BEIR folders the distractors come from, by turns; repeatable",
    )  # fmt: skip


def _calibrate(commands: Commands) -> None:
    command = commands.add_parser("calibrate", help="set the evidence thresholds from questions of their own")
    command.set_defaults(module="cli.evaluate_calibrate")
    _questions(command, "calibration.jsonl")
    command.add_argument(
        "--out", type=Path, default=places.ROOT / "gateway" / "thresholds.json", metavar="FILE"
    )
    command.add_argument(
        "--keep", type=float, default=KEEP, metavar="SHARE", help=f"right answers to keep at least ({KEEP})"
    )


def _scope(commands: Commands) -> None:
    command = commands.add_parser("scope", help="what the scope gates stop, and what without reason")
    command.set_defaults(module="cli.evaluate_scope")
    names = ("questions.jsonl", "calibration.jsonl", "scope.jsonl", "scope_held_out.jsonl")
    command.add_argument(
        "sets", type=Path, nargs="*", default=[SAMPLES / name for name in names], metavar="FILE",
        help="JSONL with question or text, and the gate that should stop it, if any",
    )  # fmt: skip
    command.add_argument("--limit", type=int, default=0, metavar="N", help="ask only N questions of each set")
    command.add_argument(
        "--most-false", type=float, default=0.01, metavar="SHARE",
        help="status 1 when more of our questions are stopped (0.01)",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")


def _adversarial(commands: Commands) -> None:
    command = commands.add_parser("adversarial", help="how many deceptive answers the checks catch")
    command.set_defaults(module="cli.evaluate_adversarial")
    command.add_argument(
        "--cases", type=Path, action="append", metavar="FILE", help="a suite (all three); may be given again"
    )
    command.add_argument(
        "--least", type=float, default=0.95, metavar="SHARE", help="status 1 when a kind is below (0.95)"
    )
    command.add_argument(
        "--least-true", type=float, default=0.8, metavar="SHARE",
        help="status 1 when fewer true answers pass, or refusals are known as such (0.8)",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")


def _questions(command: argparse.ArgumentParser, name: str) -> None:
    command.add_argument("--questions", type=Path, default=SAMPLES / name, metavar="FILE")
    command.add_argument("--at-once", type=int, default=2, metavar="N", help="calls running at once (2)")
    command.add_argument(
        "--own", action="store_true", help="serve the samples in an instance of its own, on free ports"
    )
    command.add_argument(
        "--samples", type=Path, default=places.ROOT / "var" / "samples", metavar="FOLDER", help="as built"
    )


def _measure(text: str) -> str:
    if not measures.known(text):  # now, not after an hour of work
        raise argparse.ArgumentTypeError(f"{text!r} is no measure")
    return text


def _requirement(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    if name not in REQUIRABLE:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(REQUIRABLE)}")
    return name, float(share)
