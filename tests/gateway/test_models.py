"""The models behind their roles, over a model server that counts its calls."""

import math
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from gateway.index import CurrentIndex, Index
from gateway.models import Embedder, Generator, Reranker, Weights
from gateway.roles import Models, Served
from radrag.errors import IndexUnavailable, InvalidArgument, ModelUnavailable
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.triton import Embedding, ModelServer, Piece, Score


class Counting:
    """A model server whose vectors are [calls, length of the text]."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str, str]] = []
        self.weights = "aa"
        self.asked = 0
        self.stopped = False
        self.is_up = True
        self.failure: Exception | None = None
        self.vector: list[float] = []

    async def embed(self, model: str, text: str, task: str) -> Embedding:
        if self.failure:
            raise self.failure
        self.texts.append((model, text, task))
        vector = np.array([self.vector or [len(self.texts), len(text)]], dtype=np.float32)
        return Embedding(vector, [len(text)], len(text) > 100)

    async def ready(self, model: str) -> bool:
        return self.is_up

    async def parameters(self, model: str) -> dict[str, str]:
        self.asked += 1
        return {"weights_sha256": self.weights}

    async def rerank(self, model: str, query: str, passages: Sequence[str]) -> list[Score]:
        if self.failure:
            raise self.failure
        return [Score(math.nan if not passage else 0.5, False) for passage in passages]

    async def generate(self, model: str, prompt: str, sampling: dict[str, object]) -> AsyncIterator[Piece]:
        try:
            yield Piece(str(sorted(sampling.items())), "", 1, 1)
            yield Piece("never read", "stop", 1, 1)
        finally:
            self.stopped = True


def served() -> tuple[Counting, ModelServer]:
    server = Counting()
    return server, cast("ModelServer", server)


class Indexes:
    """An index whose generation can be set."""

    def __init__(self) -> None:
        self.now = Index("g1", 1, "e5")

    async def get(self) -> Index:
        return self.now


async def test_the_embedder_is_the_one_that_made_the_index_and_says_so() -> None:
    server, door = served()
    embedder = Embedder(door, Weights(door), Indexes().get, "configured", 8)
    vector = await embedder.embed("доза")
    assert server.texts == [("e5", "доза", "query")]
    assert (vector.embedder, vector.weights_sha256, vector.generation) == ("e5", "aa", "g1")
    assert vector.values == (1.0, 4.0)
    assert not vector.truncated


async def test_before_anything_was_published_the_configured_embedder_serves() -> None:
    server, door = served()
    indexes = Indexes()
    indexes.now = Index()
    await Embedder(door, Weights(door), indexes.get, "configured", 8).embed("dose")
    assert server.texts[0][0] == "configured"


async def test_a_question_is_embedded_once_while_it_is_remembered() -> None:
    server, door = served()
    embedder = Embedder(door, Weights(door), Indexes().get, "e5", 2)
    first = await embedder.embed("a")
    assert await embedder.embed("a") == first
    await embedder.embed("b")
    await embedder.embed("a")
    await embedder.embed("c")  # b was used longest ago
    await embedder.embed("a")
    await embedder.embed("b")
    assert [text for _, text, _ in server.texts] == ["a", "b", "c", "b"]


async def test_no_question_text_is_kept() -> None:
    _, door = served()
    embedder = Embedder(door, Weights(door), Indexes().get, "e5", 8)
    await embedder.embed("CANARY")
    assert "CANARY" not in repr(vars(embedder))


async def test_a_cache_of_size_zero_keeps_nothing() -> None:
    server, door = served()
    embedder = Embedder(door, Weights(door), Indexes().get, "e5", 0)
    await embedder.embed("a")
    await embedder.embed("a")
    assert len(server.texts) == 2


async def test_a_new_generation_asks_for_identity_and_vectors_again() -> None:
    server, door = served()
    indexes = Indexes()
    embedder = Embedder(door, Weights(door), indexes.get, "e5", 8)
    await embedder.embed("a")
    server.weights = "bb"
    indexes.now = Index("g2", 1, "e5")
    vector = await embedder.embed("a")
    assert (vector.generation, vector.weights_sha256) == ("g2", "bb")
    assert len(server.texts) == 2


async def test_an_embedder_that_came_back_is_asked_who_it_is() -> None:
    server, door = served()
    embedder = Embedder(door, Weights(door), Indexes().get, "e5", 8)
    await embedder.embed("a")
    server.failure = ModelUnavailable("embedder")
    with pytest.raises(ModelUnavailable):
        await embedder.embed("b")
    server.failure, server.weights = None, "bb"
    assert (await embedder.embed("b")).weights_sha256 == "bb"


async def test_a_model_that_refuses_what_we_send_counts_as_missing_not_as_the_callers_fault() -> None:
    server, door = served()
    server.failure = InvalidArgument("embedder", "refused its input")
    with pytest.raises(ModelUnavailable):
        await Embedder(door, Weights(door), Indexes().get, "e5", 8).embed("a")
    with pytest.raises(ModelUnavailable):
        await Reranker(door, "m").rerank("q", ["p"])


@pytest.mark.parametrize(
    "vector", [[math.nan, 1.0], [math.inf, 1.0], [1.0], [1.0, 2.0, 3.0]], ids=["nan", "inf", "short", "long"]
)
async def test_a_vector_with_no_numbers_or_another_dimension_is_a_missing_embedder(
    vector: list[float],
) -> None:
    server, door = served()
    indexes = Indexes()
    indexes.now = Index("g1", 1, "e5", 2)
    server.vector = vector
    embedder = Embedder(door, Weights(door), indexes.get, "e5", 8)
    with pytest.raises(ModelUnavailable):
        await embedder.embed("a")
    server.vector = [0.6, 0.8]
    assert (await embedder.embed("a")).values == pytest.approx((0.6, 0.8))  # nothing of it was kept


def replying(outputs: dict[str, np.typing.NDArray[np.float32]]) -> Any:
    """An inference reply with these outputs."""
    said = service_pb2.ModelInferResponse()
    for name, values in outputs.items():
        said.outputs.add(name=name, datatype="FP32", shape=values.shape)
        said.raw_output_contents.append(values.tobytes())
    return said


def of(*shape: int) -> np.typing.NDArray[np.float32]:
    return np.ones(shape, np.float32)


EMBEDDED = {"EMBEDDINGS": of(1, 1, 2), "TOKENS": of(1, 1), "TRUNCATED": of(1, 1)}
SCORED = {"SCORE": of(2, 1), "TRUNCATED": of(2, 1)}


@pytest.mark.parametrize(
    "outputs",
    [
        {}, {**EMBEDDED, "EMBEDDINGS": of(1, 0, 2)}, {**EMBEDDED, "EMBEDDINGS": of(1, 1, 0)},
        {**EMBEDDED, "EMBEDDINGS": of(1, 2, 2)}, {**EMBEDDED, "EMBEDDINGS": of(2)},
        {**SCORED, "SCORE": of(0)}, {**SCORED, "SCORE": of(3, 1)}, {**SCORED, "TRUNCATED": of(1, 1)},
    ],
)  # fmt: skip
async def test_a_reply_of_another_form_is_a_missing_model_and_not_our_fault(
    outputs: dict[str, np.typing.NDArray[np.float32]], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ModelServer("127.0.0.1:1", "reranker")

    async def infer(*args: object, **kwargs: object) -> Any:
        return replying(outputs)

    monkeypatch.setattr(server._stub, "ModelInfer", infer)
    with pytest.raises(ModelUnavailable, match="reranker"):
        await (server.rerank("m", "q", ["a", "b"]) if "SCORE" in outputs else server.embed("m", "a", "query"))
    await server.close()


async def test_a_served_model_that_was_away_is_asked_for_its_weights_again() -> None:
    server, door = served()
    model = Served(door, "e5", Weights(door))
    models = Models({"embedder": model})
    assert models.named()[0].weights_sha256 == ""
    assert await models.checks()["embedder"]()
    assert models.named()[0].weights_sha256 == "aa"
    server.is_up, server.weights = False, "bb"
    assert not await model.is_there()
    server.is_up = True
    assert await model.is_there()
    assert models.named()[0].weights_sha256 == "bb"


async def test_scores_keep_the_passages_order() -> None:
    _, door = served()
    scores = await Reranker(door, "m").rerank("q", ["p", ""])
    assert scores[0].value == 0.5
    assert math.isnan(scores[1].value)


async def test_leaving_early_stops_the_model() -> None:
    server, door = served()
    pieces = Generator(door, "m", {"seed": 1}).generate("prompt", 7)
    first = await anext(pieces)
    assert first.text == "[('max_tokens', 7), ('seed', 1)]"
    await pieces.aclose()
    assert server.stopped


async def test_the_index_is_remembered_and_renewed_and_an_empty_one_is_asked_again() -> None:
    replies = [
        wire.DescribeResponse(),
        wire.DescribeResponse(generation="g1", revision=3),
        wire.DescribeResponse(generation="g2", revision=4),
    ]

    async def describe() -> wire.DescribeResponse:
        if not replies:
            raise IndexUnavailable
        return replies.pop(0)

    current = CurrentIndex(describe)
    assert await current.get() == Index()
    assert (await current.get()).generation == "g1"
    assert (await current.get()).generation == "g1"
    assert (await current.renew()).generation == "g2"
    assert (await current.seen()).generation == "g2"
    with pytest.raises(IndexUnavailable):
        await current.renew()
