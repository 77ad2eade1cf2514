"""RadRAG beside Haystack, LlamaIndex and a plain FastAPI service: same documents, same Triton, same embedder.

Run: make bench-peers. Each cuts the documents as it usually does; nobody reranks. The two libraries are
called in their process; the FastAPI service is asked over HTTP and RadRAG over gRPC. The documents are those
that are judged for the first questions of a public collection, and others that are not. Peers run in an
environment of their own.
"""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

from grpc import aio

from benchmarks.loops import loop, memory, ms, p95
from benchmarks.record import record
from benchmarks.stand import Stand, ingested, standing
from cli import places
from evaluation import datasets, measures
from evaluation.datasets import Dataset, Document, Query
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

RESULT = places.ROOT / "benchmarks" / "results" / "peers.json"
PYTHON = places.ROOT / ".venv-peers" / "bin" / "python"
PEERS = ("haystack", "llamaindex", "fastapi")
COLUMNS = ("build_s", "p50_ms", "p95_ms", "per_second", "memory_mb", "ndcg_at_5")
AT_ONCE = 8
SOURCES = 5  # the most that a caller may ask for


async def measured(
    folder: Path, questions: int, others: int, port: int, peers: Sequence[str]
) -> dict[str, object]:
    """A row for RadRAG and for each peer."""
    whole = datasets.load(folder, "test")
    asked, held = chosen(whole, questions, others)
    with tempfile.TemporaryDirectory() as home:
        async with standing("peers", Path(home), port, 0) as stand:
            rows = {"RadRAG": await _ours(stand, Path(home), asked, held)}
            for peer in peers:
                rows[peer] = await asyncio.to_thread(_peer, peer, Path(home), stand, asked, held)
    judged = {query.id: whole.qrels[query.id] for query in asked}
    for row in rows.values():
        each = measures.per_query(row.pop("rankings"), judged, ("nDCG@5",))["nDCG@5"]  # type: ignore[arg-type]
        row["ndcg_at_5"] = round(fmean(each.values()), 4)
    return {"set": whole.name, "questions": len(asked), "documents": len(held), "rows": rows}


def chosen(whole: Dataset, questions: int, others: int) -> tuple[list[Query], list[Document]]:
    """The first questions, what is judged for them, and so many other documents."""
    asked = whole.queries[:questions]
    judged = {name for query in asked for name in whole.qrels[query.id]}
    rest = itertools.islice((one for one in whole.documents if one.id not in judged), others)
    return asked, [*(one for one in whole.documents if one.id in judged), *rest]


async def _ours(
    stand: Stand, home: Path, asked: Sequence[Query], held: Sequence[Document]
) -> dict[str, object]:
    """Ingested as files, asked over gRPC."""
    files = written(home / "documents", held)
    built = await ingested(stand.environ, *map(str, files), "--topic", "safety", "--approve")
    ranks = dict[str, list[str]]()
    async with aio.insecure_channel(stand.gateway) as channel:
        stub = AssistantServiceStub(channel)

        async def search(text: str) -> list[str]:
            request = wire.SearchRequest(question=text, limits=wire.Limits(sources=SOURCES))
            return named((await stub.Search(request)).ranked_parents)

        async def alone(number: int) -> None:
            query = asked[number % len(asked)]
            ranks[query.id] = await search(query.text)

        async def crowded(number: int) -> None:
            # Not as it was asked before: the peers keep no vectors of questions.
            await search(f"{asked[number % len(asked)].text} {number}")

        one = await loop(alone, 1, 0.1, least=len(asked))
        crowd = await loop(crowded, AT_ONCE, 0.1, least=len(asked) // AT_ONCE)
    held_mb = sum(memory(pid)["own_mb"] for pid in stand.pids.values())
    return _row(built, one.times, crowd.rate, held_mb) | {"rankings": ranks}


def named(parents: Iterable[wire.RankedParent]) -> list[str]:
    """The documents' names in the set, best first, each once: an ingested file's id is its path."""
    return list(dict.fromkeys(Path(one.document.document_id).stem for one in parents))


def written(folder: Path, held: Sequence[Document]) -> list[Path]:
    """The documents as Markdown, a file each: `radrag ingest` takes files and no folders."""
    folder.mkdir()
    files = [folder / f"{one.id}.md" for one in held]
    for file, one in zip(files, held, strict=True):
        file.write_text(f"# {one.title}\n\n{one.text}\n", encoding="utf-8")
    return files


def _peer(
    name: str, home: Path, stand: Stand, asked: Sequence[Query], held: Sequence[Document]
) -> dict[str, object]:
    task = home / "task.json"
    told = {
        "documents": [{"id": one.id, "title": one.title, "text": one.text} for one in held],
        "questions": [{"id": query.id, "text": query.text} for query in asked],
        "triton": stand.triton.http,
        "model": stand.models[0],
    }
    task.write_text(json.dumps(told), encoding="utf-8")
    line = [str(PYTHON), "-m", "benchmarks.peer_run", name, str(task)]
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        line, cwd=places.ROOT, capture_output=True, text=True, check=False, env={**os.environ, **quiet}
    )
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    row = _row(said["build_s"], said["times"], said["per_second"], said["memory_mb"])
    print(name, row, flush=True)
    return row | {"rankings": said["rankings"]}


def _row(built: float, times: Sequence[float], rate: float, held_mb: float) -> dict[str, object]:
    return {
        "build_s": round(built, 1),
        "p50_ms": ms(median(times)),
        "p95_ms": ms(p95(times)),
        "per_second": round(rate, 1),
        "memory_mb": round(held_mb),
    }


def table(rows: Mapping[str, Mapping[str, object]]) -> str:
    """Markdown."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    return "\n".join(
        lines + [f"| {name} | {' | '.join(str(row[key]) for key in COLUMNS)} |" for name, row in rows.items()]
    )


def main() -> None:
    """Measures, prints, and keeps the result."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--set", type=Path, default=places.ROOT.parent / "shared" / "data" / "scifact")
    given.add_argument("--questions", type=int, default=60)
    given.add_argument("--others", type=int, default=100)
    given.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    given.add_argument("--port", type=int, default=28981)
    asked = given.parse_args()
    if not asked.set.is_dir():
        print(f"not measured: there is no {asked.set}")
        return
    figures = asyncio.run(measured(asked.set, asked.questions, asked.others, asked.port, asked.peers))
    record(RESULT, figures)
    print(table(figures["rows"]))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
