"""`radrag eval markdown`: our Markdown of web pages beside trafilatura's text; cells of tables in PDFs."""

import argparse
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import trafilatura

from cli import places
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation.jsonl import DatasetError
from evaluation.pages import cells, f1, true_cells
from evaluation.provenance import provenance
from evaluation.web_pages import measured, pages
from ingest.clean import cleaned
from ingest.html.page import parse_html
from ingest.load import load, source_of
from ingest.reader import Reader


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Measures both; status 1 when ours is below in any type of page."""
    folder = given.data / "html_main_content"
    if not folder.is_dir():
        raise DatasetError(folder, 0, "it is not there; --data names the folder of the data sets")
    found = list(pages(folder, given.limit))
    ours, theirs = measured(found, markdown), measured(found, trafilatura_text)
    files = pdfs(given.data / "icdar2013_tables_eu")[: given.limit or None]
    tables = await table_cells(files)
    peer = beside(shlex.split(given.peer), files) if given.peer else {}
    result = {
        "pages": len(found),
        "radrag": ours,
        "trafilatura": theirs,
        "table_cell_f1": tables,
        "peer": given.peer,
        "peer_table_cell_f1": peer,
        "provenance": provenance(places.ROOT),
    }
    if given.json:
        screen.json(result)
    else:
        table(screen, ours["word_f1"], theirs["word_f1"])
        screen.text(f"snippets required {ours['required']}, forbidden {ours['forbidden']}; trafilatura's")
        screen.text(f"{theirs['required']}, {theirs['forbidden']}")
        screen.text(f"table cells in {len(files)} PDFs: F1 {tables['all']:.3f}")
        screen.text(f"the peer's: F1 {peer['all']:.3f}" if peer else "")
    worse = below(ours["word_f1"], theirs["word_f1"]) or tables["all"] < peer.get("all", 0.0)
    return Exit.FAILURE if worse else Exit.OK


async def table_cells(files: Sequence[Path]) -> dict[str, float]:
    """F1 of the cells of each PDF's tables, and the mean of all."""
    async with Reader() as reader:
        return scored({file: (await reader.parse(load(file))).markdown for file in files})


def beside(command: Sequence[str], files: Sequence[Path]) -> dict[str, float]:
    """The same of a program that is given a PDF and prints Markdown; a file it fails on scores 0."""
    done = {file: subprocess.run([*command, file], capture_output=True, check=False) for file in files}
    return scored({file: one.stdout.decode(errors="replace") for file, one in done.items()})


def scored(markdown: Mapping[Path, str]) -> dict[str, float]:
    """F1 by the file's name, and their mean."""
    found = {
        file.stem: round(f1(cells(text), true_cells(file.with_name(f"{file.stem}-str.xml").read_bytes())), 4)
        for file, text in markdown.items()
    }
    return found | {"all": round(sum(found.values()) / max(1, len(found)), 4)}


def pdfs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.pdf"))


def markdown(html: bytes) -> str:
    return cleaned(parse_html(source_of("page.html", html))).markdown


def trafilatura_text(html: bytes) -> str:
    return trafilatura.extract(html) or ""


def below(ours: object, theirs: object) -> list[str]:
    """The types of page in which ours is worse."""
    assert isinstance(ours, dict)
    assert isinstance(theirs, dict)
    return [kind for kind in theirs if ours[kind] < theirs[kind]]


def table(screen: Terminal, ours: object, theirs: object) -> None:
    assert isinstance(ours, dict)
    assert isinstance(theirs, dict)
    rows = [[kind, f"{ours[kind]:.3f}", f"{theirs[kind]:.3f}"] for kind in ours]
    screen.table(("word F1", "radrag", "trafilatura"), rows)
