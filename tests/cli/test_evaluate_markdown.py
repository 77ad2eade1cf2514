"""What `radrag eval markdown` compares: another program's tables by the same cells, page types one by one."""

import argparse
import sys
from pathlib import Path

import pytest

from cli.evaluate_markdown import PeerFailed, below, beside, run, scored, told
from cli.exits import Exit
from cli.terminal import Terminal

CELLS = "".join(f"<cell><content>{text}</content></cell>" for text in ("Доза", "60 мГр"))
TRUTH = f"<document><table>{CELLS}</table></document>"


def peer(folder: Path, *lines: str) -> list[str]:
    """A program of some lines."""
    (folder / "peer.py").write_text("\n".join(["import sys", *lines]), encoding="utf-8")
    return [sys.executable, str(folder / "peer.py")]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two PDFs with the cells of their one table."""
    made = [tmp_path / "one.pdf", tmp_path / "two.pdf"]
    for file in made:
        file.write_bytes(b"%PDF-")
        file.with_name(f"{file.stem}-str.xml").write_text(TRUTH)
    return made


def test_a_peer_is_scored_by_the_cells_it_prints_and_its_failures_are_counted_apart(
    files: list[Path], tmp_path: Path
) -> None:
    program = peer(
        tmp_path,
        "if sys.argv[1].endswith('two.pdf'): sys.exit(3)",
        "sys.stdout.reconfigure(encoding='utf-8')",
        "print('| Доза | 60 мГр |')",
    )
    found = beside(program, files)
    assert scored(found.markdown) == {"one": 1.0, "all": 1.0}
    assert found.failed == {files[1]: "exit status 3"}
    ours = {"one": 0.5, "two": 0.9, "all": 0.7}
    assert told(found, ours, {"one": 1.0, "all": 1.0}) == (
        "the peer's on 1 of them: F1 1.000; ours 0.500; it failed on 1 (exit status 3)"
    )


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (["raise ValueError('page 1: Доза 60 мГр')"], "ValueError"),
        (["sys.exit('page 1: Доза 60 мГр')"], "exit status 1"),
        (None, "FileNotFoundError"),
    ],
)
def test_a_peer_that_reads_nothing_is_an_error_of_a_kind_without_its_words(
    program: list[str] | None, kind: str, files: list[Path], tmp_path: Path
) -> None:
    command = peer(tmp_path, *program) if program else [str(tmp_path / "missing")]
    with pytest.raises(PeerFailed) as failure:
        beside(command, files)
    assert str(failure.value) == f"the peer failed on all of 2 PDFs: {kind}"


async def test_the_measurement_ends_there_with_a_line_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "html_main_content").mkdir()
    tables = tmp_path / "icdar2013_tables_eu"
    tables.mkdir()
    (tables / "one.pdf").write_bytes(b"%PDF-")
    given = argparse.Namespace(data=tmp_path, limit=0, peer="/missing/peer", json=False)
    assert await run(given, Terminal(), {}) == Exit.FAILURE
    assert "the peer failed on all of 1 PDFs: FileNotFoundError" in capsys.readouterr().err


def test_a_type_of_page_in_which_ours_is_worse_is_named() -> None:
    assert below({"article": 0.90, "forum": 0.8}, {"article": 0.91, "forum": 0.8}) == ["article"]
