"""The arguments of `radrag kb …`: what curators do from the terminal."""

import argparse
from pathlib import Path
from typing import TypeAlias

from cli.argument_types import minute_or_more

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

STATES = (
    "discovered", "parsed", "in_review", "approved", "published",
    "superseded", "expired", "retired", "rejected", "failed",
)  # fmt: skip


def add(commands: Commands) -> None:
    """Adds `kb` with its actions."""
    kb = commands.add_parser("kb", help="review and keep the knowledge base")
    actions = kb.add_subparsers(dest="action", required=True, metavar="ACTION")
    _looking(actions)
    _review(actions)
    _deciding(actions)
    _keeping(actions)
    _reindexing(actions)


def _add(commands: Commands, name: str, module: str, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
    command.set_defaults(module=module)
    command.add_argument("--json", action="store_true", help="print JSON")
    return command


def _looking(actions: Commands) -> None:
    listing = _add(actions, "list", "cli.kb", "list the versions, newest first")
    listing.add_argument("--topic", action="append", default=[], help="only this topic; repeatable")
    listing.add_argument(
        "--state", action="append", default=[], choices=STATES, metavar="STATE",
        help=f"only this state; repeatable: {', '.join(STATES)}",
    )  # fmt: skip
    show = _version(_add(actions, "show", "cli.kb_show", "show one version and its history"))
    show.add_argument("--markdown", action="store_true", help="print its text and nothing else")
    _add(actions, "stats", "cli.kb_stats", "count versions by category, language, topic and state")


def _review(actions: Commands) -> None:
    review = _add(actions, "review", "cli.kb_review", "review what waits, one version after another")
    review.add_argument("document", nargs="?", default="", metavar="DOCUMENT", help="only this document")
    review.add_argument("--version", default="", help="only this version")
    review.add_argument("--topic", action="append", default=[], help="only this topic; repeatable")
    how = review.add_mutually_exclusive_group()
    how.add_argument("--approve", action="store_true", help="approve without asking")
    how.add_argument("--reject", default="", metavar="REASON", help="reject without asking")
    review.add_argument("--publish", action="store_true", help="publish what is approved at once")


def _deciding(actions: Commands) -> None:
    approve = _decision(actions, "approve", "approve this very version")
    approve.add_argument("--publish", action="store_true", help="publish it at once")
    _decision(actions, "reject", "reject a version; a reason is required")
    _decision(actions, "publish", "publish an approved version")
    retire = _decision(actions, "retire", "take a document, or a version, out of every search")
    retire.add_argument(
        "--from", dest="day", default="", metavar="YYYY-MM-DD",
        help="end its force on this day instead: it stays for questions as of earlier days",
    )  # fmt: skip
    _decision(actions, "retry", "reopen a version: review it again")
    _decision(actions, "delete", "delete a document, or a version, from catalogue and index")


def _decision(actions: Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = _version(_add(actions, name, "cli.kb_decide", text))
    command.add_argument("--reason", default="", help="why; kept in the history")
    return command


def _version(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    command.add_argument("document", metavar="DOCUMENT", help="its id")
    command.add_argument("--version", default="", help="16 hex digits; the newest, or all, when left out")
    return command


def _keeping(actions: Commands) -> None:
    reconcile = _add(actions, "reconcile", "cli.kb_reconcile", "compare catalogue and index, and repair")
    reconcile.add_argument("--dry-run", action="store_true", help="only list the differences")
    watch = _add(
        actions, "watch", "cli.kb_watch", "read what is new in watched folders and pages into review"
    )
    watch.add_argument("sources", type=Path, metavar="SOURCES", help="a YAML file that names them")
    how_often = watch.add_mutually_exclusive_group()
    how_often.add_argument("--once", action="store_true", help="look once and end, as without either")
    how_often.add_argument(
        "--every",
        type=minute_or_more,
        default=0.0,
        metavar="SECONDS",
        help="look again and again; at least 60",
    )
    feedback = _add(actions, "feedback", "cli.kb_feedback", "print the ratings of answers")
    feedback.add_argument("--csv", action="store_true", help="as CSV, with comments")


def _reindexing(actions: Commands) -> None:
    reindex = actions.add_parser("reindex", help="build the whole index anew beside the one in use")
    steps = reindex.add_subparsers(dest="step", required=True, metavar="STEP")

    def step(name: str, text: str) -> argparse.ArgumentParser:
        return _add(steps, name, "cli.kb_reindex", text)

    step("start", "build a generation with today's settings, or go on with it")
    step("status", "list the generations and what each lacks of the one in use")
    switch = step("switch", "make a generation the one in use, if it passes the check")
    back = step("rollback", "go back to a generation, as it was left")
    drop = step("drop", "remove a generation that is not in use")
    for one in (switch, back):
        one.add_argument("generation", nargs="?", default="", metavar="GENERATION", help="its name")
    drop.add_argument("generation", metavar="GENERATION", help="its name")
    switch.add_argument(
        "--questions", type=Path, metavar="FILE",
        help="JSONL questions with evidence that must still find their documents; without it, titles",
    )  # fmt: skip
    switch.add_argument(
        "--lose", type=int, default=0, metavar="N",
        help="questions that may be lost: found by the generation in use, not by the new one",
    )  # fmt: skip
