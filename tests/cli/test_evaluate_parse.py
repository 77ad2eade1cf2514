"""`radrag eval parse`: a row for each file, a line as each ends, and a second run that goes on."""

import argparse
import json
from pathlib import Path

import pytest

from cli.evaluate import run
from cli.evaluate_parse import keep, kept
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation.formats import File
from tests.cli import screens


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text("# Doses\n\n## Limits\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")
    (tmp_path / "in" / "b.txt").write_text("")
    for name in ("c.json", "d.json.gz", "e.xyz", "LICENSE"):
        (tmp_path / "in" / name).write_text("no document")
    return tmp_path


async def parsed(folder: Path) -> tuple[int, Terminal, dict[str, dict[str, object]]]:
    screen = screens.pipe()
    words = ["parse", str(folder / "in"), "--json", "--rows", str(folder / "rows.jsonl")]
    status = await run(argparse.Namespace(words=words), screen, {})
    return status, screen, {one["name"]: one for one in json.loads(screens.out(screen))["files"]}


async def test_each_file_is_read_or_refused_with_a_reason(folder: Path) -> None:
    status, screen, files = await parsed(folder)
    assert status == Exit.OK
    assert (files["a.md"]["headings"], files["a.md"]["tables"], files["a.md"]["refused"]) == (2, 1, "")
    assert str(files["b.txt"]["refused"]).startswith("size: ")
    assert files.keys() == {"a.md", "b.txt"}
    assert [line.split(" ")[0] for line in screens.err(screen).splitlines()] == ["1/2", "2/2"]


async def test_files_that_are_no_documents_are_counted_by_kind(folder: Path) -> None:
    _, screen, files = await parsed(folder)
    others = json.loads(screens.out(screen))["not a document format"]
    assert others == {"json": 2, "LICENSE": 1, "xyz": 1}
    assert len(files) + sum(others.values()) == len(list((folder / "in").iterdir()))
    screen = screens.pipe()
    await run(argparse.Namespace(words=["parse", str(folder / "in"), "--markdown"]), screen, {})
    assert "not a document format: 1 LICENSE, 2 json, 1 xyz" in screens.out(screen)


async def test_a_second_run_reads_only_what_has_no_row(folder: Path) -> None:
    _, _, first = await parsed(folder)
    (folder / "in" / "d.md").write_text("# New\n")
    _, screen, second = await parsed(folder)
    assert second.keys() == {"a.md", "b.txt", "d.md"}
    assert {name: second[name] for name in first} == first
    assert screens.err(screen).startswith("1/1 d.md ")


def test_neither_half_a_row_nor_a_fault_of_ours_is_taken_up(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    keep(rows, File("a.md", "markdown", seconds=1.5))
    keep(rows, File("b.md", "markdown", refused="internal error (KeyError)"))
    rows.write_text(rows.read_text() + '{"name": "c.m')
    assert kept(rows) == [File("a.md", "markdown", seconds=1.5)]
    keep(rows, File("d.md", "markdown"))
    assert [one.name for one in kept(rows)] == ["a.md", "d.md"]
