"""Arguments of the measurements of reading: web pages, books, scans, whatever a folder holds."""

import argparse
from pathlib import Path
from typing import TypeAlias

from cli import places

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(commands: Commands) -> None:
    """Adds them all."""
    _markdown(commands)
    _headings(commands)
    _ocr(commands)
    _parse(commands)


def _markdown(commands: Commands) -> None:
    command = commands.add_parser("markdown", help="main text of web pages, cells of tables")
    command.set_defaults(module="cli.evaluate_markdown")
    data = places.ROOT.parent / "shared" / "data"
    command.add_argument("--data", type=Path, default=data, metavar="FOLDER")
    command.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N of each set")
    command.add_argument(
        "--peer",
        default="",
        metavar="COMMAND",
        help="given a PDF it prints Markdown; status 1 when its cells are better",
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _headings(commands: Commands) -> None:
    command = commands.add_parser("headings", help="headings of Debian's books, PDF against HTML edition")
    command.set_defaults(module="cli.evaluate_headings")
    books = places.ROOT / "var" / "books"
    command.add_argument(
        "--books", type=Path, default=books, metavar="FOLDER", help="with the .debs, else apt fetches them"
    )
    command.add_argument(
        "--least-precision", type=float, default=0.85, metavar="SHARE", help="status 1 when lower (0.85)"
    )
    command.add_argument(
        "--least-recall", type=float, default=0.95, metavar="SHARE", help="status 1 when lower (0.95)"
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _ocr(commands: Commands) -> None:
    command = commands.add_parser("ocr", help="letters misread on scanned pages made for it")
    command.set_defaults(module="cli.evaluate_ocr")
    pages = places.ROOT / "evaluation" / "scans.yaml"
    command.add_argument("--pages", type=Path, default=pages, metavar="FILE", help="what stands on the pages")
    command.add_argument(
        "--skew", type=float, default=1.0, metavar="DEGREES", help="how far they lie askew (1)"
    )
    command.add_argument("--seed", type=int, default=7, metavar="N", help="of the noise (7)")
    command.add_argument(
        "--most", type=_rate, action="append", default=[], metavar="LANGUAGE=SHARE",
        help="status 1 when more is misread, as ru=0.03; repeatable",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")


def _parse(commands: Commands) -> None:
    command = commands.add_parser("parse", help="every file of a folder, parsed or refused with a reason")
    command.set_defaults(module="cli.evaluate_parse")
    command.add_argument("folder", type=Path)
    command.add_argument("--limit", type=int, default=0, metavar="N", help="N files of each suffix at most")
    command.add_argument("--at-once", type=int, default=2, metavar="N", help="files read at once (2)")
    command.add_argument(
        "--rows", type=Path, metavar="FILE", help="JSONL that keeps finished rows for a run that goes on"
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a Markdown table")
    form.add_argument("--json", action="store_true", help="print JSON, with each file")


def _rate(text: str) -> tuple[str, float]:
    language, _, share = text.partition("=")
    try:
        return language, float(share)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be like ru=0.03") from None
