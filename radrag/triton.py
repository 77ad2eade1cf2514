"""The one door to Triton: texts in, vectors, scores and tokens out, by the tensors of the three roles.

Which model stands behind a role is the caller's business; so are retries: there are none here.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import grpc
import numpy as np
from numpy.typing import NDArray
from tritonclient.grpc import aio
from tritonclient.utils import InferenceServerException

from radrag import call, telemetry
from radrag.access.channels import Files, channel_credentials
from radrag.access.following import Following
from radrag.errors import DeadlineExceeded, InvalidArgument, ModelUnavailable, Overloaded, RadragError

log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

# A role's name may stand for many replicas: calls take turns, and the name is asked again soon after a server
# has let its connection go, so that a new replica is found. Given any options, tritonclient drops its own.
CHANNEL: list[tuple[str, int | str]] = [
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.dns_min_time_between_resolutions_ms", 5000),
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


@dataclass(frozen=True)
class Piece:
    """A piece of generated text. `finish_reason` is empty until the last one: stop, length."""

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int


class ModelServer:
    """One role's Triton: one server, or all behind the name or the list (`ipv4:HOST:PORT,…`) that `url` is.

    `role` names it in errors. With `tls` it is called over TLS, mutual where there is a certificate. Raises
    SettingError for files that cannot be used.
    """

    def __init__(self, url: str, role: str, tls: Files | None = None) -> None:
        self._role = role
        self._following = Following(
            lambda: aio.InferenceServerClient(
                url, creds=channel_credentials(tls) if tls else None, channel_args=CHANNEL
            ),
            tls.stamped if tls else tuple,
            lambda client: client.close(),
        )

    @property
    def _client(self) -> aio.InferenceServerClient:
        return self._following.now()

    async def close(self) -> None:
        """Closes the connection."""
        await self._following.close()

    async def ready(self, model: str, seconds: float = 2.0) -> bool:
        """Whether the model would take a request now."""
        try:
            return bool(await self._client.is_model_ready(model, client_timeout=seconds))
        except (InferenceServerException, grpc.RpcError):
            return False

    async def parameters(self, model: str, seconds: float = 5.0) -> dict[str, str]:
        """The model's config.pbtxt parameters: for an embedder, its fingerprint."""
        try:
            reply = await self._client.get_model_config(model, client_timeout=call.time_left(seconds))
        except (InferenceServerException, grpc.RpcError) as error:
            raise self._translated(error) from error
        return {key: value.string_value for key, value in reply.config.parameters.items()}

    async def embed(
        self, model: str, text: str, task: str, spans: Sequence[tuple[int, int]] = (), seconds: float = 60.0
    ) -> Embedding:
        """Vectors of `text` as a `query` or a `document`: one per span, or one of all when there are none."""
        rows = np.asarray(spans, dtype=np.int32).reshape(1, -1, 2)
        inputs = [_strings("TEXT", [text]), _strings("TASK", [task]), _tensor("SPANS", rows, "INT32")]
        result = await self._infer(model, inputs, seconds)
        vectors = self._output(result, "EMBEDDINGS")
        tokens = [int(count) for count in self._output(result, "TOKENS").ravel()]
        if vectors.ndim != 3 or vectors.shape[:2] != (1, max(1, len(spans))) or not vectors.size:
            raise self._malformed("EMBEDDINGS")
        return Embedding(vectors[0].astype(np.float32), tokens, bool(self._output(result, "TRUNCATED").any()))

    async def rerank(
        self, model: str, query: str, passages: Sequence[str], seconds: float = 60.0
    ) -> list[Score]:
        """One score per passage, in their order. A row is a pair, so that callers share batches."""
        inputs = [_strings("QUERY", [query] * len(passages)), _strings("PASSAGE", passages)]
        result = await self._infer(model, inputs, seconds)
        scores, cut = (self._output(result, name).ravel() for name in ("SCORE", "TRUNCATED"))
        if not len(scores) == len(cut) == len(passages):
            raise self._malformed("SCORE")
        return [Score(float(score), bool(was_cut)) for score, was_cut in zip(scores, cut, strict=True)]

    async def generate(
        self, model: str, prompt: str, sampling: Mapping[str, object], seconds: float = 120.0
    ) -> AsyncIterator[Piece]:
        """The answer, piece by piece, the last with a reason. Leaving early cancels the model's work."""
        stream = self._client.stream_infer(
            _once({"model_name": model, "inputs": _generation(prompt, sampling)}),
            stream_timeout=call.time_left(seconds),
            headers=_headers(),
        )
        try:
            failure, ended = None, False
            async for result, error in stream:
                failure = failure or error
                if failure is None:
                    piece = _piece(result)
                    ended = ended or bool(piece.finish_reason)
                    yield piece
            # Raised at the end only: cancelled while it says why it failed, Triton 2.51 keeps the request.
            if failure is not None:
                raise self._translated(failure)
            if not ended:  # what has no end is not whole, whoever took it away
                raise ModelUnavailable(self._role)
        except grpc.RpcError as error:
            raise self._translated(error) from error
        finally:
            stream.cancel()  # leaving the loop alone would let the model run on

    async def _infer(self, model: str, inputs: list[aio.InferInput], seconds: float) -> aio.InferResult:
        timeout = call.time_left(seconds)
        try:
            return await self._client.infer(model, inputs, client_timeout=timeout, headers=_headers())
        except (InferenceServerException, grpc.RpcError) as error:
            raise self._translated(error) from error

    def _output(self, result: aio.InferResult, name: str) -> NDArray[np.float32]:
        values: NDArray[np.float32] | None = result.as_numpy(name)
        if values is None:
            raise self._malformed(name)
        return values

    def _malformed(self, name: str) -> ModelUnavailable:
        """A model that answers in another form than its role's is none: its callers do without it."""
        log.error("the %s's reply lacks %s, or has it in another form", self._role, name)
        return ModelUnavailable(self._role)

    def _translated(self, error: Exception) -> RadragError:
        status, text = _status_of(error), str(error)
        if "maximum queue size" in text:
            telemetry.REJECTED.labels("model_queue").inc()
            return Overloaded(f"the {self._role}'s queue is full", 1.0, "MODEL_QUEUE_FULL")
        if "DEADLINE_EXCEEDED" in status or "timeout expired" in text:
            return DeadlineExceeded(f"the {self._role} did not answer in time")
        if "INVALID_ARGUMENT" in status:
            return InvalidArgument(self._role, "refused its input")
        return ModelUnavailable(self._role)


def _status_of(error: Exception) -> str:
    if isinstance(error, InferenceServerException):
        return str(error.status() or "")
    return str(error.code()) if isinstance(error, grpc.RpcError) else ""


def _headers() -> dict[str, str]:
    return dict(telemetry.propagated())


def _tensor(name: str, values: NDArray[np.generic] | NDArray[np.object_], kind: str) -> aio.InferInput:
    tensor = aio.InferInput(name, list(values.shape), kind)
    tensor.set_data_from_numpy(values)
    return tensor


def _strings(name: str, texts: Sequence[str]) -> aio.InferInput:
    return _tensor(name, np.array([[text.encode()] for text in texts], dtype=np.object_), "BYTES")


def _generation(prompt: str, sampling: Mapping[str, object]) -> list[aio.InferInput]:
    flags = ("stream", "exclude_input_in_output", "return_finish_reason", "return_num_input_tokens",
             "return_num_output_tokens")  # fmt: skip
    texts = {"text_input": prompt, "sampling_parameters": json.dumps(dict(sampling))}
    strings = [
        _tensor(name, np.array([text.encode()], dtype=np.object_), "BYTES") for name, text in texts.items()
    ]
    return [*strings, *(_tensor(name, np.array([True]), "BOOL") for name in flags)]


def _piece(result: aio.InferResult) -> Piece:
    """One reply of a stream. Read without numpy, which takes 40 µs for four tensors of one element each."""
    reply = result.get_response()
    raw = {one.name: said for one, said in zip(reply.outputs, reply.raw_output_contents, strict=False)}
    return Piece(
        _first_text(raw.get("text_output", b"")),
        _reason(_first_text(raw.get("finish_reason", b""))),
        _first_number(raw.get("num_input_tokens", b"")),
        _first_number(raw.get("num_output_tokens", b"")),
    )


def _first_text(raw: bytes) -> str:
    """The first element of strings: its length in four bytes, then itself."""
    return raw[4 : 4 + _first_number(raw)].decode(errors="replace")


def _first_number(raw: bytes) -> int:
    """The first element of 32-bit counts; 0 where there is none."""
    return int.from_bytes(raw[:4], "little")


def _reason(text: str) -> str:
    # vLLM says "None" while it is still writing. What an abort or a limit cut is not whole.
    if text in {"", "None", "none"}:
        return ""
    return "stop" if text == "stop" else "length"


async def _once(request: dict[str, object]) -> AsyncIterator[dict[str, object]]:
    yield request
    await asyncio.sleep(0)
