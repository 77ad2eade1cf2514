"""`radrag eval markdown`: our Markdown of web pages beside trafilatura's text; cells of tables in PDFs."""

import argparse
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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

# How a Python program ends: the class of its exception, without the words, which may be the document's.
RAISED = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception))\b", re.MULTILINE)


class PeerFailed(RuntimeError):
    """The peer failed on every PDF; the message says how often and of what kind, with none of its words."""


class Peer(NamedTuple):
    """What another program made of the PDFs, and how it failed on the rest."""

    markdown: dict[Path, str]
    failed: dict[Path, str]


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Measures both; status 1 when ours is below in any type of page, or a peer reads nothing at all."""
    folder = given.data / "html_main_content"
    if not folder.is_dir():
        raise DatasetError(folder, 0, "it is not there; --data names the folder of the data sets")
    files = pdfs(folder.parent / "icdar2013_tables_eu")[: given.limit or None]
    try:
        peer = beside(shlex.split(given.peer), files) if given.peer else Peer({}, {})
    except PeerFailed as error:
        screen.note(f"radrag eval: {error}")
        return Exit.FAILURE
    found = list(pages(folder, given.limit))
    ours, theirs = measured(found, markdown), measured(found, trafilatura_text)
    tables, peers = await table_cells(files), scored(peer.markdown)
    result = {
        "pages": len(found),
        "radrag": ours,
        "trafilatura": theirs,
        "table_cell_f1": tables,
        "peer": given.peer,
        "peer_table_cell_f1": peers if given.peer else {},
        "peer_failed": {file.stem: how for file, how in peer.failed.items()},
        "provenance": provenance(places.ROOT),
    }
    if given.json:
        screen.json(result)
    else:
        table(screen, ours["word_f1"], theirs["word_f1"])
        screen.text(f"snippets required {ours['required']}, forbidden {ours['forbidden']}; trafilatura's")
        screen.text(f"{theirs['required']}, {theirs['forbidden']}")
        screen.text(f"table cells in {len(files)} PDFs: F1 {tables['all']:.3f}")
        screen.text(told(peer, tables, peers) if given.peer else "")
    worse = below(ours["word_f1"], theirs["word_f1"]) or alike(tables, peer) < peers["all"]
    return Exit.FAILURE if worse else Exit.OK


async def table_cells(files: Sequence[Path]) -> dict[str, float]:
    """F1 of the cells of each PDF's tables, and the mean of all."""
    async with Reader() as reader:
        return scored({file: (await reader.parse(load(file))).markdown for file in files})


def beside(command: Sequence[str], files: Sequence[Path]) -> Peer:
    """Runs a program that is given a PDF and prints Markdown. Raises PeerFailed when it can read none."""
    done = {file: printed([*command, str(file)]) for file in files}
    failed = {file: one for file, (text, one) in done.items() if text is None}
    if failed and len(failed) == len(files):
        raise PeerFailed(f"the peer failed on all of {len(files)} PDFs: {kinds(failed)}")
    return Peer({file: text for file, (text, _) in done.items() if text is not None}, failed)


def printed(command: Sequence[str]) -> tuple[str | None, str]:
    """What a program prints, or how it failed: by its exception's class or its exit status."""
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        return None, type(error).__name__
    if done.returncode == 0:
        return done.stdout.decode(errors="replace"), ""
    raised = RAISED.search(done.stderr.decode(errors="replace"))
    return None, raised[1] if raised else f"exit status {done.returncode}"


def kinds(failed: Mapping[Path, str]) -> str:
    return ", ".join(sorted(set(failed.values())))


def told(peer: Peer, ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    """The peer's score on what it read, ours on the same, and its failures."""
    line = f"the peer's on {len(peer.markdown)} of them: F1 {theirs['all']:.3f}; ours {alike(ours, peer):.3f}"
    return line + (f"; it failed on {len(peer.failed)} ({kinds(peer.failed)})" if peer.failed else "")


def alike(ours: Mapping[str, float], peer: Peer) -> float:
    """Our mean of the PDFs that the peer could read, so that both are of the same."""
    return mean([ours[file.stem] for file in peer.markdown])


def scored(markdown: Mapping[Path, str]) -> dict[str, float]:
    """F1 by the file's name, and their mean."""
    found = {
        file.stem: round(f1(cells(text), true_cells(file.with_name(f"{file.stem}-str.xml").read_bytes())), 4)
        for file, text in markdown.items()
    }
    return found | {"all": mean(list(found.values()))}


def mean(scores: Sequence[float]) -> float:
    return round(sum(scores) / max(1, len(scores)), 4)


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
