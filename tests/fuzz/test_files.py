"""No mutated file crashes or hangs a parser or puzzles it: it is read, or refused with a reason.

A plain run reads a few fixed ones; `make fuzz` reads RADRAG_TEST_FUZZ_FILES by our own parsers and
RADRAG_TEST_FUZZ_DOCLING by Docling in its child processes. A hang ends the run; var/fuzz-hang.txt has
the file's number and where it hangs.
"""

import faulthandler
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.places import ROOT
from ingest.clean import cleaned
from ingest.load import Source, source_of
from ingest.manifest import read_manifest
from ingest.parse import TEXT_PARSERS
from ingest.reader import Care, Reader
from radrag.errors import InvalidArgument
from tests.fuzz.files import mutated

OWN = int(os.environ.get("RADRAG_TEST_FUZZ_FILES", "150"))
DOCLING = int(os.environ.get("RADRAG_TEST_FUZZ_DOCLING", "6"))
SECONDS, HANG = 10.0, 120.0  # processor time that a file of these sizes may take; when it hangs
# Not a stream: pytest keeps those to itself, to the end that never comes.
NOTES = ROOT / "var" / "fuzz-hang.txt"
NAMES = {"html": "a.html", "markdown": "a.md", "text": "a.txt", "docx": "a.docx", "pdf": "a.pdf"}


def opened(kind: str, number: int) -> Source:
    """As an upload is. Raises InvalidArgument."""
    return source_of(NAMES[kind], mutated(kind, number))


def read_text(kind: str, number: int, folder: Path) -> None:
    source = opened(kind, number)
    if source.kind in TEXT_PARSERS:
        cleaned(TEXT_PARSERS[source.kind](source))


def read_list(kind: str, number: int, folder: Path) -> None:
    (folder / "manifest.yaml").write_bytes(mutated(kind, number))
    read_manifest(folder / "manifest.yaml")


# Of a DOCX the container is read here; what is in it, by Docling.
READERS: dict[str, Callable[[str, int, Path], None]] = {
    "html": read_text, "markdown": read_text, "text": read_text, "docx": read_text, "manifest": read_list,
}  # fmt: skip


@pytest.mark.parametrize("kind", READERS)
def test_a_mutated_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for number in range(OWN // len(READERS)):
        seen[outcome(READERS[kind], kind, number, tmp_path)] += 1
    assert sum(seen.values()) == OWN // len(READERS)
    assert len(seen) == 2, (
        seen
    )  # some are read, some refused: the mutations are neither too mild nor too wild


def outcome(read: Callable[[str, int, Path], None], kind: str, number: int, folder: Path) -> str:
    """Whether it was read or refused; every other exception fails the test, which `number` repeats."""
    print(kind, number)  # noqa: T201 - shown where it fails
    began = time.process_time()
    try:
        with hanging(f"{kind} {number}"):
            read(kind, number, folder)
    except InvalidArgument:
        return "refused"
    finally:
        assert time.process_time() - began < SECONDS
    return "read"


@contextmanager
def hanging(name: str, seconds: float = HANG) -> Iterator[None]:
    """Ends the process when what runs here does not end, and leaves a note where it was."""
    with NOTES.open("w") as notes:
        notes.write(f"{name}\n")
        notes.flush()
        faulthandler.dump_traceback_later(seconds, exit=True, file=notes)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            NOTES.unlink()


def test_what_hangs_is_named_with_its_place() -> None:
    line = (
        "import time; from tests.fuzz import test_files as t\nwith t.hanging('html 7', 0.1): time.sleep(60)"
    )
    assert subprocess.run([sys.executable, "-c", line], cwd=ROOT, check=False).returncode == 1
    assert NOTES.read_text().startswith("html 7\n")
    assert 'File "<string>", line 2' in NOTES.read_text()
    NOTES.unlink()


async def test_a_mutated_file_costs_docling_one_child_at_most() -> None:
    seen: Counter[str] = Counter()
    async with Reader(1, Care(seconds=60.0)) as reader:
        for number in range(DOCLING):
            seen[await docling(reader, ("docx", "pdf")[number % 2], number)] += 1
    sys.stdout.write(f"{dict(seen)}\n")
    assert set(seen) <= {"read", "content", "type", "size"}, seen  # none met the limits of time or memory
    assert seen["read"]


async def docling(reader: Reader, kind: str, number: int) -> str:
    """`read`, or which of the file's properties it was refused for."""
    print(kind, number)  # noqa: T201 - as above
    try:
        cleaned(await reader.parse(opened(kind, number)))
    except InvalidArgument as error:
        return error.field
    return "read"
