"""Triton's embedder over plain HTTP, for the peers: the same server, the same model, no code of ours."""

import httpx


class Embedder:
    """Calls one model; usable from many threads."""

    def __init__(self, address: str, model: str) -> None:
        self._client = httpx.Client(base_url=f"http://{address}", timeout=120)
        self._path = f"/v2/models/{model}/infer"

    def embed(self, text: str, task: str) -> list[float]:
        """The vector of a text; `task` is query or document. Raises httpx.HTTPError."""
        reply = self._client.post(self._path, json=request(text, task))
        reply.raise_for_status()
        return vector(reply.json())


def request(text: str, task: str) -> dict[str, object]:
    """The tensors of a text as JSON."""
    texts = {"TEXT": text, "TASK": task}
    inputs = [
        {"name": name, "shape": [1, 1], "datatype": "BYTES", "data": [one]} for name, one in texts.items()
    ]
    return {"inputs": [*inputs, {"name": "SPANS", "shape": [1, 0, 2], "datatype": "INT32", "data": []}]}


def vector(reply: dict[str, list[dict[str, list[float]]]]) -> list[float]:
    """The embedding in a reply."""
    return next(one["data"] for one in reply["outputs"] if one["name"] == "EMBEDDINGS")  # type: ignore[comparison-overlap]
