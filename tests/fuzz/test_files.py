"""No mutated file crashes or hangs a parser or puzzles it: it is read, or refused with a reason.

A plain run reads a few fixed ones; `make fuzz` reads RADRAG_TEST_FUZZ_FILES by our own parsers and
RADRAG_TEST_FUZZ_DOCLING by Docling in its child processes. A hang ends the run with a traceback.
"""

import faulthandler
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

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
    faulthandler.dump_traceback_later(HANG, exit=True)
    try:
        read(kind, number, folder)
    except InvalidArgument:
        return "refused"
    finally:
        faulthandler.cancel_dump_traceback_later()
        assert time.process_time() - began < SECONDS
    return "read"


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
