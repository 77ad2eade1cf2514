"""The plain FastAPI service beside a stand: the Prompt path over HTTP, same Triton, same passages.

It needs the peers' environment (make bench-peers makes it); without one there is no such row.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from benchmarks import corpus
from benchmarks.loops import Ask
from benchmarks.stand import Stand
from cli import places
from cli.process import Child

PYTHON = places.ROOT / ".venv-peers" / "bin" / "python"
SECONDS = 60.0


@asynccontextmanager
async def fastapi(stand: Stand, children: int) -> AsyncIterator[dict[str, Ask]]:
    """The call by its row's name; its process joins the stand's. Nothing without the environment."""
    if not PYTHON.exists():
        yield {}
        return
    port, child = stand.triton.grpc_port + 19, Child("fastapi", stand.home)
    task = stand.home / "fastapi.json"
    task.write_text(json.dumps(_task(stand, children)), encoding="utf-8")
    line = (str(PYTHON), "-m", "uvicorn", "--factory", "benchmarks.peer_fastapi:app", "--port", str(port))
    started = child.start(
        (*line, "--log-level", "warning"), {**stand.environ, "PEER_TASK": str(task)}, places.ROOT
    )
    try:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", timeout=SECONDS, limits=limits
        ) as client:
            await _answers(client)
            stand.pids["fastapi"] = started.pid

            async def prompt(number: int) -> None:
                (await client.post("/prompt", json={"question": f"case {number}"})).raise_for_status()

            yield {"fastapi prompt": prompt}
    finally:
        stand.pids.pop("fastapi", None)
        await child.stop(5)


def _task(stand: Stand, children: int) -> dict[str, object]:
    """Parents stand for chunks, so that a prompt is as long as ours; each has its first child's vector."""
    passages = [
        {"id": parent.parent_id, "text": parent.text, "vector": child.vector}
        for one in corpus.documents(children, DIMENSION)
        for parent, child in zip(one.parents, one.children[:: corpus.CHILDREN_OF_PARENT], strict=False)
    ]
    embedder, reranker = stand.models[:2]
    return {"passages": passages, "triton": stand.triton.http, "embedder": embedder, "reranker": reranker}


DIMENSION = 32  # of the null embedder


async def _answers(client: httpx.AsyncClient) -> None:
    """Waits until it answers. Raises httpx.HTTPError when it does not."""
    transport = httpx.AsyncHTTPTransport(retries=20)  # with growing pauses, while it starts
    async with httpx.AsyncClient(base_url=client.base_url, transport=transport, timeout=SECONDS) as patient:
        (await patient.get("/openapi.json")).raise_for_status()
