"""Calls of a role's Triton, over its protocol's own stub.

Which model stands behind a role is the caller's business; so are retries: there are none here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray
from tritonclient.grpc import service_pb2, service_pb2_grpc

from radrag import call, telemetry
from radrag.access import channels
from radrag.access.channels import Files
from radrag.errors import DeadlineExceeded, InvalidArgument, ModelUnavailable, Overloaded, RadragError
from radrag.triton import tensors
from radrag.triton.tensors import Piece

log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

# A server that comes back is found within seconds; a message is as large as it is.
CHANNEL: list[tuple[str, int | str]] = [
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]


@dataclass(frozen=True)
class Embedding:
    """Unit vectors [n, dimension], content tokens per span, and whether the text was cut."""

    vectors: Vectors
    tokens: list[int]
    truncated: bool


@dataclass(frozen=True)
class Score:
    """A rerank score, 0 to 1; NaN when this row failed. `truncated`: the passage was cut."""

    value: float
    truncated: bool


class ModelServer:
    """One role's Triton: one server, or all behind the name or the list (`ipv4:HOST:PORT,…`) that `url` is.

    `role` names it in errors. With `tls` it is called over TLS, mutual where there is a certificate. Raises
    SettingError for files that cannot be used.
    """

    def __init__(self, url: str, role: str, tls: Files | None = None) -> None:
        self._role = role
        self._channel = channels.channel(url, tls, CHANNEL)
        self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)

    async def close(self) -> None:
        """Closes the connection."""
        await self._channel.close(None)

    async def ready(self, model: str, seconds: float = 2.0) -> bool:
        """Whether the model would take a request now."""
        try:
            reply = await self._stub.ModelReady(service_pb2.ModelReadyRequest(name=model), timeout=seconds)
        except grpc.RpcError:
            return False
        return bool(reply.ready)

    async def parameters(self, model: str, seconds: float = 5.0) -> dict[str, str]:
        """The model's config.pbtxt parameters: for an embedder, its fingerprint."""
        asked = service_pb2.ModelConfigRequest(name=model)
        try:
            reply = await self._stub.ModelConfig(asked, timeout=call.time_left(seconds))
        except grpc.RpcError as error:
            raise self._translated(error) from error
        return {key: value.string_value for key, value in reply.config.parameters.items()}

    async def embed(
        self, model: str, text: str, task: str, spans: Sequence[tuple[int, int]] = (), seconds: float = 60.0
    ) -> Embedding:
        """Vectors of `text` as a `query` or a `document`: one per span, or one of all when there are none."""
        found = await self._infer(tensors.embedding(model, text, task, spans), seconds)
        vectors = self._output(found, "EMBEDDINGS")
        tokens = [int(count) for count in self._output(found, "TOKENS").ravel()]
        if vectors.ndim != 3 or vectors.shape[:2] != (1, max(1, len(spans))) or not vectors.size:
            raise self._malformed("EMBEDDINGS")
        return Embedding(vectors[0].astype(np.float32), tokens, bool(self._output(found, "TRUNCATED").any()))

    async def rerank(
        self, model: str, query: str, passages: Sequence[str], seconds: float = 60.0
    ) -> list[Score]:
        """One score per passage, in their order. A row is a pair, so that callers share batches."""
        found = await self._infer(tensors.reranking(model, query, passages), seconds)
        scores, cut = (self._output(found, name).ravel().tolist() for name in ("SCORE", "TRUNCATED"))
        if not len(scores) == len(cut) == len(passages):
            raise self._malformed("SCORE")
        return [Score(float(score), bool(was_cut)) for score, was_cut in zip(scores, cut, strict=True)]

    async def generate(
        self, model: str, prompt: str, sampling: Mapping[str, object], seconds: float = 120.0
    ) -> AsyncIterator[Piece]:
        """The answer, piece by piece, the last with a reason. Leaving early cancels the model's work."""
        stream = self._stub.ModelStreamInfer(
            _once(tensors.generation(model, prompt, sampling)),
            timeout=call.time_left(seconds),
            metadata=telemetry.propagated(),
        )
        try:
            failure, ended = "", False
            async for reply in stream:
                failure = failure or reply.error_message
                if not failure:
                    piece = tensors.piece(reply.infer_response)
                    ended = ended or bool(piece.finish_reason)
                    yield piece
            # Raised at the end only: cancelled while it says why it failed, Triton 2.51 keeps the request.
            if failure:
                raise self._failed("", failure)
            if not ended:  # what has no end is not whole, whoever took it away
                raise ModelUnavailable(self._role)
        except grpc.RpcError as error:
            raise self._translated(error) from error
        finally:
            stream.cancel()  # leaving the loop alone would let the model run on

    async def _infer(self, request: Any, seconds: float) -> Any:
        timeout = call.time_left(seconds)
        try:
            return await self._stub.ModelInfer(request, timeout=timeout, metadata=telemetry.propagated())
        except grpc.RpcError as error:
            raise self._translated(error) from error

    def _output(self, reply: Any, name: str) -> NDArray[Any]:
        try:
            return tensors.array(reply, name)
        except (KeyError, ValueError):
            raise self._malformed(name) from None

    def _malformed(self, name: str) -> ModelUnavailable:
        """A model that answers in another form than its role's is none: its callers do without it."""
        log.error("the %s's reply lacks %s, or has it in another form", self._role, name)
        return ModelUnavailable(self._role)

    def _translated(self, error: grpc.RpcError) -> RadragError:
        return self._failed(str(error.code()), str(error))

    def _failed(self, code: str, text: str) -> RadragError:
        """The error behind Triton's words; a failure within a stream has no code."""
        if "maximum queue size" in text:
            telemetry.REJECTED.labels("model_queue").inc()
            return Overloaded(f"the {self._role}'s queue is full", 1.0, "MODEL_QUEUE_FULL")
        if "DEADLINE_EXCEEDED" in code or "timeout expired" in text:
            return DeadlineExceeded(f"the {self._role} did not answer in time")
        if "INVALID_ARGUMENT" in code:
            return InvalidArgument(self._role, "refused its input")
        return ModelUnavailable(self._role)


async def _once(request: Any) -> AsyncIterator[Any]:
    yield request
    await asyncio.sleep(0)
