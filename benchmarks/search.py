"""How search scales: time, recall, memory and build time of the store as shipped and of other shapes of it.

Run: make bench-search. An index of made-up children (benchmarks/corpus.py says how they are made) in 7
collections is written once per size and dimension; each shape then opens a copy of it in a process of its
own, where it builds what it needs, answers the same questions by the real searcher, and is compared with
exact search by numpy. A row is kept when it is measured, beside those of earlier runs: with --missing a run
that was cut off goes on, with --keep it finds its index again. A million children of 1,536 need 30 GB there.

Where RADRAG_TEST_QDRANT_URL names a Qdrant server, the same children go there too and are asked the same,
once for each compression: shapes that differ in anything else are the same to a server.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import TypeAlias

import uvloop

from benchmarks.index_made import made
from benchmarks.record import commit, machine, record
from benchmarks.searching import SHAPES, measured, measured_on_server
from cli import places

RESULT = places.ROOT / "benchmarks" / "results" / "search.json"
COLUMNS = (
    "p50_ms", "p95_ms", "recall_at_15", "cpu_ms", "cpu_p95_ms", "own_mb", "mapped_mb", "open_s", "load",
)  # fmt: skip
Row: TypeAlias = Mapping[str, object]


def rows(asked: argparse.Namespace) -> dict[str, Row]:
    """Every shape at every size; each in its own process, so that memory is its own."""
    found = measured_before() if asked.missing else {}
    for dimension, children in product(asked.dimensions, asked.children):
        size = f"{children} x {dimension}"
        shapes = [shape for shape in asked.shapes if f"{size}, {shape}" not in found]
        if not shapes:
            continue
        with _room(asked.keep, f"{children}x{dimension}") as folder:
            written = _written(folder, children, dimension, asked.questions)
            print(f"{children} children of {dimension}: written in {written:.0f} s", flush=True)
            server = cache(partial(_server, folder))
            for shape in shapes:
                beside = {"server": server(SHAPES[shape].compression), **_told()}
                row = {"written_s": round(written, 1), **_apart(folder, shape), **beside}
                found[f"{size}, {shape}"] = row
                print(f"{size}, {shape}", json.dumps(row), flush=True)
                _record({f"{size}, {shape}": row})  # what comes next takes minutes
    return found


def measured_before() -> dict[str, Row]:
    """The rows that are kept."""
    if not RESULT.exists():
        return {}
    kept: dict[str, Row] = json.loads(RESULT.read_text(encoding="utf-8"))["rows"]
    return kept


def _told() -> dict[str, object]:
    """What a row may differ in from the others of its file."""
    return {"commit": commit(), "load": machine()["load"]}


def _server(folder: Path, compression: str) -> Row | str:
    """What a Qdrant server makes of the index, where there is one. Nobody else is told its address."""
    url = os.environ.get("RADRAG_TEST_QDRANT_URL", "")
    return uvloop.run(measured_on_server(url, folder, compression)) if url else "not measured"


def _record(found: Mapping[str, Row]) -> None:
    record(RESULT, {"rows": {**measured_before(), **found}})


@contextmanager
def _room(keep: Path | None, name: str) -> Iterator[Path]:
    """Where an index lies: below `keep`, to be asked again another time, or where nothing stays."""
    if keep:
        (keep / name).mkdir(parents=True, exist_ok=True)
        yield keep / name
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _written(folder: Path, children: int, dimension: int, questions: int) -> float:
    """Writes the index, unless it was kept; the seconds that took."""
    took = folder / "written.txt"
    if not took.exists():
        shutil.rmtree(folder / "edge", ignore_errors=True)  # of a run that was cut off
        seconds = asyncio.run(made(folder, children, dimension, questions))
        took.write_text(str(seconds), encoding="ascii")
    return float(took.read_text(encoding="ascii"))


def _apart(folder: Path, shape: str) -> Row:
    """One shape, measured by a process of its own on a copy of the index."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / "edge", copy)
    try:
        line = [sys.executable, "-m", "benchmarks.search", "--measure", str(folder), "--shapes", shape]
        done = subprocess.run(line, cwd=places.ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        figures: Row = json.loads(done.stdout.splitlines()[-1])
        return figures
    finally:
        shutil.rmtree(copy)


def table(found: Mapping[str, Row]) -> str:
    """Markdown: a row per size and shape, then the filters."""
    lines = [
        f"| index | {' | '.join(COLUMNS)} | server: p50_ms/p95_ms/recall_at_15 |",
        "|---" * (len(COLUMNS) + 2) + "|",
    ]
    for name, one in found.items():
        cells = [str(one.get(key, "")) for key in COLUMNS]
        lines.append(f"| {name} | {' | '.join(cells)} | {_server_cell(one['server'])} |")
    lines += [
        "",
        "| index | filter | children | p50_ms | p95_ms | recall_at_15 |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        lines += [f"| {name} | {_cells(each)} |" for each in _filters(one)]
    return "\n".join(lines)


def _server_cell(told: object) -> str:
    """The server's figures, or that there are none."""
    return "/".join(map(str, told.values())) if isinstance(told, Mapping) else str(told)


def _filters(one: Row) -> Iterable[Row]:
    filters = one["filters"]
    return filters if isinstance(filters, list) else ()


def _cells(one: Row) -> str:
    return " | ".join(str(one[key]) for key in ("filter", "children", "p50_ms", "p95_ms", "recall_at_15"))


def main() -> None:
    """Measures what was asked for, prints, and keeps the result."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--children", type=int, nargs="+", default=[10_000, 100_000])
    given.add_argument("--dimensions", type=int, nargs="+", default=[384, 1536])
    given.add_argument(
        "--shapes", nargs="+", choices=list(SHAPES), default=["shipped", "scan", "int8", "binary"]
    )
    given.add_argument("--questions", type=int, default=100)
    given.add_argument("--keep", type=Path, default=None, help="where to leave the indexes for another run")
    given.add_argument("--missing", action="store_true", help="measure only what the kept results lack")
    given.add_argument("--measure", type=Path, default=None, help=argparse.SUPPRESS)
    asked = given.parse_args()
    if asked.measure:
        print(json.dumps(uvloop.run(measured(asked.measure, SHAPES[asked.shapes[0]]))))  # as the service does
        return
    print(table(rows(asked)))


if __name__ == "__main__":
    main()
