"""The three models behind their roles: question to vector, pairs to scores, prompt to pieces of an answer."""

import hashlib
import hmac
import logging
import math
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from gateway.index import Index
from gateway.passage import QueryVector
from radrag import telemetry
from radrag.errors import InvalidArgument, ModelUnavailable
from radrag.triton import ModelServer, Piece, Score

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Model:
    """A model as a reply's manifest names it; the hash is empty while the server has not said it."""

    role: str
    name: str
    weights_sha256: str = ""


class Weights:
    """The weights' sha256 of models on one server, from their configuration; forgotten when told so."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._known: dict[str, str] = {}

    async def of(self, model: str) -> str:
        """The hash of a model's weights, hex; empty when its configuration has none."""
        if model not in self._known:
            parameters = await self._server.parameters(model)
            self._known[model] = parameters.get("weights_sha256", "")
        return self._known[model]

    def known(self, model: str) -> str:
        """The hash if it was asked for already, else empty."""
        return self._known.get(model, "")

    def forget(self) -> None:
        """Makes the next question go to the server: it may have come back with another model."""
        self._known.clear()


class Embedder:
    """Question → vector, by the embedder that made the index; kept under a keyed hash of the text."""

    def __init__(
        self,
        server: ModelServer,
        weights: Weights,
        index: Callable[[], Awaitable[Index]],
        model: str,
        keep: int,
    ) -> None:
        self._server, self._weights, self._index = server, weights, index
        self._model = model
        self._keep = keep
        self._secret = secrets.token_bytes(32)
        self._vectors: OrderedDict[bytes, QueryVector] = OrderedDict()
        self._generation = ""

    async def model(self) -> tuple[str, str]:
        """The embedder in use: its name and its weights' hash. Raises as `embed` does."""
        index = await self._index()
        model = index.embedder or self._model
        return model, await self._weights.of(model)

    async def embed(self, text: str) -> QueryVector:
        """The vector of a question. Raises ModelUnavailable, DeadlineExceeded, Overloaded, Unavailable."""
        index = await self._index()
        self._notice(index.generation)
        model = index.embedder or self._model
        weights = await self._weights.of(model)
        key = self._key(model, weights, index.generation, text)
        if key in self._vectors:
            self._vectors.move_to_end(key)
            return self._vectors[key]
        try:
            return self._kept(key, await self._embedded(model, weights, index, text))
        except ModelUnavailable:
            self._weights.forget()
            raise

    async def _embedded(self, model: str, weights: str, index: Index, text: str) -> QueryVector:
        try:
            embedding = await self._server.embed(model, text, "query")
        except InvalidArgument:  # what we send is checked: a model that refuses it is not the one we need
            raise ModelUnavailable("embedder") from None
        if embedding.truncated:
            telemetry.TRUNCATIONS.labels(model).inc()
        values = tuple(embedding.vectors[0].tolist())
        if not all(map(math.isfinite, values)) or len(values) != (index.dimension or len(values)):
            log.error("the embedder's vector has %d values, or some are no numbers", len(values))
            raise ModelUnavailable("embedder")
        return QueryVector(values, model, weights, index.generation, embedding.truncated)

    def _notice(self, generation: str) -> None:
        if generation != self._generation:
            self._generation = generation
            self._weights.forget()
            self._vectors.clear()

    def _key(self, *named: str) -> bytes:
        return hmac.digest(self._secret, "\0".join(named).encode(), hashlib.sha256)

    def _kept(self, key: bytes, vector: QueryVector) -> QueryVector:
        if self._keep:
            self._vectors[key] = vector
            while len(self._vectors) > self._keep:
                self._vectors.popitem(last=False)
        return vector


class Reranker:
    """(question, passage) pairs → scores 0..1, NaN where a row failed."""

    def __init__(self, server: ModelServer, model: str) -> None:
        self._server, self._model = server, model

    async def rerank(self, question: str, passages: Sequence[str]) -> list[Score]:
        """One score per passage, in their order. Raises ModelUnavailable, DeadlineExceeded, Overloaded."""
        try:
            scores = await self._server.rerank(self._model, question, passages)
        except InvalidArgument:
            raise ModelUnavailable("reranker") from None
        telemetry.TRUNCATIONS.labels(self._model).inc(sum(score.truncated for score in scores))
        return scores


class Generator:
    """Prompt → pieces of an answer. `sampling` goes to the model with every prompt."""

    def __init__(self, server: ModelServer, model: str, sampling: dict[str, object]) -> None:
        self._server, self._model, self._sampling = server, model, sampling

    async def generate(self, prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        """The pieces as they are written; leaving early stops the model."""
        sampling = {**self._sampling, "max_tokens": max_tokens}
        try:
            async with aclosing(self._server.generate(self._model, prompt, sampling)) as pieces:  # type: ignore[type-var]  # an async generator, typed as an iterator
                async for piece in pieces:
                    yield piece
        except InvalidArgument:
            raise ModelUnavailable("generator") from None

    async def ready(self) -> bool:
        """Whether the model would take a prompt now."""
        return await self._server.ready(self._model, 0.5)
