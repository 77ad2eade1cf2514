"""Many documents in one process group: resident memory stays flat once everything has been used.

RADRAG_TEST_SOAK=500 makes it the full run; RADRAG_TEST_RESULTS names the folder for the result.
"""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from benchmarks.record import record
from tests.ingest.embedders import NULL, served
from tests.ingest.files import body, heading, pdf
from tests.ingest.memory import group_bytes, resident
from tests.retrieval.process import ROOT, running

DOCUMENTS = int(os.environ.get("RADRAG_TEST_SOAK", "30"))
WARM = DOCUMENTS // 5  # 100 of 500
MEGABYTE = 1_000_000
WORDS = (
    "dose image patient contrast vessel lesion chest scanner report finding organ section kidney liver brain "
    "tissue signal measured shows large small left right upper lower before after during without between"
)
# Growth from the first stretch after the warm-up to the last. A child that is replaced makes the group's
# memory jump; a leak of 100 kB a document would make 40 MB of 500.
MOST_OWN, MOST_GROUP = 20 * MEGABYTE, 60 * MEGABYTE


def write(folder: Path, n: int) -> None:
    """Of ten documents four are HTML, six Markdown; in a full run one is a PDF, for the child processes."""
    said = [f"Section {part} of document {n}. {sentences(f'{n} {part}')}" for part in range(8)]
    name = folder / f"d{n:03}"
    if n % 10 == 0 and DOCUMENTS >= 100:
        name.with_suffix(".pdf").write_bytes(pdf([heading(f"Document {n}"), *map(body, said)]))
    elif n % 10 < 4:
        parts = "".join(f"<h2>Part {at}</h2><p>{one}</p>" for at, one in enumerate(said))
        page = f"<!DOCTYPE html><html><body><article><h1>Document {n}</h1>{parts}</article></body></html>"
        name.with_suffix(".html").write_text(page)
    else:
        parts = "\n\n".join(f"## Part {at}\n\n{one}" for at, one in enumerate(said))
        name.with_suffix(".md").write_text(f"# Document {n}\n\n{parts}")


def sentences(seed: str) -> str:
    """Words of a language in an order of their own: what looks like none would be read by OCR."""
    drawn = random.Random(seed).choices(WORDS.split(), k=130)
    return " ".join(f"The {' '.join(drawn[at : at + 10])}." for at in range(0, len(drawn), 10))


def measured(child: "subprocess.Popen[str]") -> Iterator[tuple[int, int]]:
    """Resident bytes of the process and of its whole group, after each document."""
    assert child.stdout is not None
    for line in child.stdout:
        if "outcome='published'" in line:
            yield resident(Path(f"/proc/{child.pid}")), group_bytes(child.pid)


def growth(sizes: list[int]) -> int:
    """How much more the last stretch holds than the first after the warm-up, by their medians."""
    return int(median(sizes[-WARM:]) - median(sizes[WARM : 2 * WARM]))


@pytest.fixture
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(NULL, tmp_path_factory.mktemp("soak")) as address:
        yield address


async def test_memory_is_flat_after_the_first_fifth(tmp_path: Path, embedder: str) -> None:
    (tmp_path / "documents").mkdir()
    for n in range(DOCUMENTS):
        write(tmp_path / "documents", n)
    started = perf_counter()
    async with running(tmp_path) as process:
        sizes = await batch(tmp_path, f"127.0.0.1:{process.port}", embedder)
    own, group = [size for size, _ in sizes], [size for _, size in sizes]
    figures = {
        "documents": len(sizes),
        "seconds": round(perf_counter() - started, 1),
        "own_megabytes": [size // MEGABYTE for size in own[:: max(1, WARM // 4)]],
        "group_megabytes": [size // MEGABYTE for size in group[:: max(1, WARM // 4)]],
        "own_growth_megabytes": round(growth(own) / MEGABYTE, 1),
        "group_growth_megabytes": round(growth(group) / MEGABYTE, 1),
    }
    if folder := os.environ.get("RADRAG_TEST_RESULTS"):
        record(Path(folder) / "soak.json", figures)
    assert len(sizes) == DOCUMENTS
    assert growth(own) <= MOST_OWN, figures
    assert growth(group) <= MOST_GROUP, figures


async def batch(folder: Path, retrieval: str, embedder: str) -> list[tuple[int, int]]:
    """Runs the batch in a process group of its own."""

    def run() -> list[tuple[int, int]]:
        with subprocess.Popen(
            [sys.executable, "-m", "tests.ingest.batch", str(folder), retrieval, embedder, NULL],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            process_group=0,
        ) as child:
            return list(measured(child))

    return await asyncio.to_thread(run)
