"""A plain FastAPI service on qdrant-client: cut, embed, search; and the Prompt path with Triton's models.

Chunks of 1,000 characters that overlap by 200, vectors only, qdrant-client's own engine in memory: what a
service looks like before anybody measured it. `built` serves it over HTTP in this process and asks it so, as
ours is asked over gRPC. `app` is the Prompt path for a load generator: uvicorn --factory
benchmarks.peer_fastapi:app.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from qdrant_client import QdrantClient, models

from benchmarks.peer_run import Search, distinct
from benchmarks.peer_triton import Embedder, request, vector

LENGTH, OVERLAP, TOP, CANDIDATES, SOURCES = 1000, 200, 30, 13, 5
RULES = "Answer from the numbered sources only, and cite them by number."


class Asked(BaseModel):
    """A question."""

    question: str


def built(documents: Sequence[dict[str, str]], embedder: Embedder) -> Search:
    """An index of the documents behind HTTP."""
    chunks = [(one["id"], text) for one in documents for text in cut(f"{one['title']}\n{one['text']}")]
    store = _filled([(name, text, embedder.embed(text, "document")) for name, text in chunks])
    service = FastAPI()

    @service.post("/search")
    def found(asked: Asked) -> list[str]:
        hits = _nearest(store, embedder.embed(asked.question, "query"), TOP)
        return distinct([str((one.payload or {})["id"]) for one in hits])

    client = httpx.Client(base_url=_served(service), timeout=120)

    def search(question: str) -> list[str]:
        names: list[str] = client.post("/search", json={"question": question}).json()
        return names

    return search


def app() -> FastAPI:
    """The Prompt path: Triton twice, the store once. PEER_TASK names a file: passages, Triton, its models."""
    task = json.loads(Path(os.environ["PEER_TASK"]).read_text(encoding="utf-8"))
    store = _filled([(one["id"], one["text"], one["vector"]) for one in task["passages"]])
    triton = httpx.AsyncClient(base_url=f"http://{task['triton']}", timeout=120, limits=httpx.Limits())
    service = FastAPI()

    @service.post("/prompt")
    async def prompt(asked: Asked) -> dict[str, object]:
        embedded = await triton.post(
            f"/v2/models/{task['embedder']}/infer", json=request(asked.question, "query")
        )
        hits = _nearest(store, vector(embedded.json()), CANDIDATES)
        texts = [str((one.payload or {})["text"]) for one in hits]
        ranked = await triton.post(f"/v2/models/{task['reranker']}/infer", json=_pairs(asked.question, texts))
        scores = next(one["data"] for one in ranked.json()["outputs"] if one["name"] == "SCORE")
        best = [text for _, text in sorted(zip(scores, texts, strict=True), reverse=True)[:SOURCES]]
        sources = "\n".join(f"[{number}] {text}" for number, text in enumerate(best, 1))
        return {"prompt": f"{RULES}\n{sources}\n{asked.question}", "sources": best}

    return service


def cut(text: str) -> list[str]:
    """Pieces of LENGTH characters, the next beginning OVERLAP before the end of the last."""
    return [text[at : at + LENGTH] for at in range(0, max(1, len(text) - OVERLAP), LENGTH - OVERLAP)]


def _filled(chunks: Sequence[tuple[str, str, Sequence[float]]]) -> QdrantClient:
    store = QdrantClient(":memory:")
    size = len(chunks[0][2])
    store.create_collection("chunks", models.VectorParams(size=size, distance=models.Distance.COSINE))
    points = [
        models.PointStruct(id=place, vector=list(row), payload={"id": name, "text": text})
        for place, (name, text, row) in enumerate(chunks)
    ]
    store.upsert("chunks", points)
    return store


def _nearest(store: QdrantClient, row: Sequence[float], limit: int) -> list[models.ScoredPoint]:
    return store.query_points("chunks", query=list(row), limit=limit).points


def _pairs(question: str, texts: Sequence[str]) -> dict[str, object]:
    rows = {"QUERY": [question] * len(texts), "PASSAGE": list(texts)}
    return {
        "inputs": [
            {"name": name, "shape": [len(texts), 1], "datatype": "BYTES", "data": data}
            for name, data in rows.items()
        ]
    }


def _served(service: FastAPI) -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(service, port=port, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.02)
    return f"http://127.0.0.1:{port}"
