"""Arguments of the measurements that need people, spans, a judge or a grid."""

import argparse
from pathlib import Path
from typing import TypeAlias

from cli import places
from evaluation.agreement import WEIGHTS
from evaluation.judging.outcomes import METRICS

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(commands: Commands) -> None:
    """Adds them all."""
    _sample_size(commands)
    _experts(commands)
    _evidence(commands)
    _answers(commands)
    _ablate(commands)
    _gate(commands)
    _report(commands)
    _audit(commands)


def _sample_size(commands: Commands) -> None:
    command = commands.add_parser("sample-size", help="how many questions show a share (Cochran)")
    command.set_defaults(module="cli.evaluate_sample_size")
    command.add_argument("--margin", type=float, default=0.05, help="half the interval's width (0.05)")
    command.add_argument("--confidence", type=float, default=0.95, help="of the interval (0.95)")
    command.add_argument("--share", type=float, default=0.5, help="expected; 0.5 asks for the most (0.5)")
    command.add_argument("--population", type=int, metavar="N", help="questions there are in all")


def _experts(commands: Commands) -> None:
    command = commands.add_parser("experts", help="a study with raters: plan, import, report")
    command.set_defaults(module="cli.evaluate_experts")
    steps = command.add_subparsers(required=True, dest="step", metavar="STEP")
    table = steps.add_parser("agreement", help="agreement of any table of ratings, beyond chance")
    table.add_argument(
        "table", type=Path, help="CSV with a heading: a row per subject; NA or nothing: not rated"
    )
    table.add_argument(
        "--form", choices=("ratings", "counts", "contingency"), default="ratings",
        help="a column per rater; or raters per category; or two raters' contingency table",
    )  # fmt: skip
    table.add_argument("--weights", choices=WEIGHTS, default="unweighted")
    _forms(table)
    plan = steps.add_parser("plan", help="deal questions to groups of raters, write a sheet for each")
    plan.add_argument("questions", type=Path, help="JSONL: id, department, author, question, answer, sources")
    plan.add_argument("raters", type=Path, help="CSV with the columns rater and department")
    plan.add_argument("folder", type=Path, help="where plan.json and the sheets go")
    plan.add_argument("--study", choices=("ratings", "hallucinations"), default="ratings")
    plan.add_argument("--groups", type=int, default=4, metavar="N", help="groups of raters (4)")
    plan.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed, the same plan (0)")
    back = steps.add_parser(
        "import", help="read the sheets that came back, and what the console's form wrote"
    )
    back.add_argument("folder", type=Path, help="with plan.json")
    back.add_argument("sheets", type=Path, help="folder of filled-in .xlsx, and of .jsonl from the console")
    report = steps.add_parser("report", help="means, agreement, differences, the judge against the experts")
    report.add_argument("folder", type=Path, help="with plan.json and ratings.jsonl")
    report.add_argument(
        "--judge", type=Path, metavar="FILE", help="JSON of `radrag eval answers`, to set beside the experts"
    )
    _forms(report)


def _evidence(commands: Commands) -> None:
    command = commands.add_parser("evidence", help="chunk ids as truth against evidence spans, one ranking")
    command.set_defaults(module="cli.evaluate_evidence")
    command.add_argument("dataset", type=Path, help="folder with spans: our layout, or BEIR with answers")
    command.add_argument("--split", default="", help="test, train, … where the set has splits")
    command.add_argument(
        "--sizes", type=_numbers, default=[128, 256, 512], metavar="N,…", help="tokens (128,256,512)"
    )
    command.add_argument(
        "--overlaps", type=_numbers, default=[0, 10, 20], metavar="%,…", help="per cent (0,10,20)"
    )
    _forms(command)


def _answers(commands: Commands) -> None:
    command = commands.add_parser(
        "answers", help="answers by rule, by words, by a judge, and against the model alone"
    )
    command.set_defaults(module="cli.evaluate_answers")
    command.add_argument(
        "answers", type=Path, metavar="DATASET",
        help="folder or JSONL of questions, which the service is asked; or JSONL of answers: "
        "id, question, answer, reference, sources",
    )  # fmt: skip
    command.add_argument("--split", default="", help="test, train, … where the set has splits")
    command.add_argument("--limit", type=int, default=0, metavar="N", help="ask only N questions")
    command.add_argument(
        "--own", action="store_true", help="ask an instance of its own with the samples; a folder always is"
    )
    command.add_argument(
        "--samples", type=Path, default=places.ROOT / "var" / "samples", metavar="FOLDER", help="as built"
    )
    command.add_argument(
        "--contexts", type=int, default=0, metavar="N", help="sources of an answer, in an instance of its own"
    )
    command.add_argument(
        "--out", type=Path, metavar="FILE", help="keep the answers as JSONL, sources and all"
    )
    command.add_argument(
        "--judge", default="", metavar="URL", help="an OpenAI-compatible /v1, or triton: our own generator"
    )
    command.add_argument("--judge-model", default="", metavar="NAME", help="as that server lists it")
    command.add_argument("--judge-key-file", type=Path, metavar="FILE", help="that server's API key")
    command.add_argument(
        "--metric", action="append", choices=METRICS, default=[], help="of the judge only this; repeatable"
    )
    command.add_argument("--repetitions", type=int, default=1, metavar="N", help="for the judge's spread (1)")
    command.add_argument("--seconds", type=float, default=120, help="for one reply of the judge (120)")
    command.add_argument("--at-once", type=int, default=4, metavar="N", help="judgements at once (4)")
    other = command.add_mutually_exclusive_group()
    other.add_argument(
        "--baseline", type=Path, metavar="FILE", help="answers of the model alone, or others, by the same ids"
    )
    other.add_argument(
        "--alone", type=Path, metavar="FILE", help="ask the generator without sources, and keep it there"
    )
    command.add_argument(
        "--labels", type=Path, metavar="FILE", help="JSONL of people: id, label true or false"
    )
    command.add_argument(
        "--labels-for", action="append", choices=METRICS, default=[], help="what they label; repeatable"
    )
    command.add_argument(
        "--uncalibrated", action="store_true", help="show a judge's means that no labels stand behind"
    )
    _forms(command)


def _ablate(commands: Commands) -> None:
    command = commands.add_parser("ablate", help="configurations of a grid on the same questions")
    command.set_defaults(module="cli.evaluate_ablate")
    command.add_argument("grid", type=Path, help="YAML, as in evaluation/grids")
    command.add_argument("out", type=Path, help="folder of results; what is in it is not run again")
    command.add_argument(
        "--dataset", type=Path, action="append", metavar="FOLDER",
        help="instead of the grid's; repeatable: they are mixed",
    )  # fmt: skip
    command.add_argument("--split", default="", help="of that data set")
    command.add_argument("--limit", type=int, default=0, metavar="N", help="ask only N questions of each set")


def _gate(commands: Commands) -> None:
    command = commands.add_parser("gate", help="the small fixed set against its stored baseline")
    command.set_defaults(module="cli.evaluate_gate")
    baseline = places.ROOT / "evaluation" / "baseline.json"
    command.add_argument("--baseline", type=Path, default=baseline, metavar="FILE")
    command.add_argument("--write", action="store_true", help="keep this run as the baseline")


def _report(commands: Commands) -> None:
    command = commands.add_parser("report", help="results as one HTML and one Markdown file with figures")
    command.set_defaults(module="cli.evaluate_report")
    command.add_argument("results", type=Path, nargs="+", help="what other measurements printed with --json")
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    command.add_argument("--title", default="RadRAG evaluation")


def _audit(commands: Commands) -> None:
    command = commands.add_parser("audit", help="high-ranked chunks nobody annotated, for a person to judge")
    command.set_defaults(module="cli.evaluate_audit")
    command.add_argument("dataset", type=Path, help="folder with spans: our layout, or BEIR with answers")
    command.add_argument("--split", default="", help="test, train, … where the set has splits")
    command.add_argument("--tokens", type=int, default=256, metavar="N", help="of a chunk (256)")
    command.add_argument("--depth", type=int, default=5, metavar="N", help="ranks to look at (5)")
    command.add_argument("--least", type=float, default=0.6, metavar="SHARE", help="of the words (0.6)")
    command.add_argument("--out", type=Path, metavar="FILE", help="write the candidates as JSONL")
    command.add_argument("--curated", type=Path, metavar="FILE", help="the same file with accept decided")
    command.add_argument("--markdown", action="store_true", help="print a Markdown table")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be like 128,256") from None


def _forms(command: argparse.ArgumentParser) -> None:
    form = command.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print Markdown tables")
    form.add_argument("--json", action="store_true", help="print JSON")
