"""Triton's protocol answered in this process by models that compute nothing: no server is started for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from struct import pack
from typing import Any

import grpc
import numpy as np
from grpc import aio

from benchmarks.relays import message

SERVICE = "inference.GRPCInferenceService"
DIMENSION = 32
PARAMETERS = {
    "weights_sha256": "0" * 64, "tokenizer_sha256": "1" * 64, "dimension": str(DIMENSION), "pooling": "chunk",
    "prefix_query": "query: ", "prefix_document": "passage: ",
}  # fmt: skip


class Models:
    """Embedders give one vector, rerankers 0.9, generators the first sentence of the first source."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def infer(self, request: Any, context: object) -> Any:
        self.asked.append(request.model_name)
        reply = message("ModelInferResponse")(model_name=request.model_name)
        if "rerank" not in request.model_name:
            vector = np.full(DIMENSION, DIMENSION**-0.5, np.float32)
            added(reply, "EMBEDDINGS", "FP32", [1, 1, DIMENSION], vector.tobytes())
            added(reply, "TOKENS", "INT32", [1, 1], pack("<i", 1))
            added(reply, "TRUNCATED", "BOOL", [1, 1], b"\0")
        else:
            rows = request.inputs[0].shape[0]
            added(reply, "SCORE", "FP32", [rows, 1], np.full(rows, 0.9, np.float32).tobytes())
            added(reply, "TRUNCATED", "BOOL", [rows, 1], b"\0" * rows)
        return reply

    async def stream(self, requests: AsyncIterator[Any], context: object) -> AsyncIterator[Any]:
        async for request in requests:
            self.asked.append(request.model_name)
            prompt = request.raw_input_contents[0][4:].decode()
            line = prompt.split('<source number="1"')[1].split("\n")[1]
            words = f"- “{line.partition('. ')[0].rstrip('.')}.” [1]\n".split(" ")
            for number, word in enumerate(words, 1):
                yield piece(f"{word} " if number < len(words) else word, last=number == len(words))

    async def config(self, request: Any, context: object) -> Any:
        reply: Any = message("ModelConfigResponse")()
        for name, value in PARAMETERS.items():
            reply.config.parameters[name].string_value = value
        return reply

    async def ready(self, request: Any, context: object) -> Any:
        return message("ModelReadyResponse")(ready=True)


def piece(word: str, last: bool) -> Any:
    said: Any = message("ModelStreamInferResponse")()
    reply = said.infer_response
    for name, text in (("text_output", word), ("finish_reason", "stop" if last else "None")):
        added(reply, name, "BYTES", [1], pack("<I", len(text.encode())) + text.encode())
    for name in ("num_input_tokens", "num_output_tokens"):
        added(reply, name, "UINT32", [1], pack("<I", 1))
    return said


def added(reply: Any, name: str, kind: str, shape: list[int], content: bytes) -> None:
    reply.outputs.add(name=name, datatype=kind, shape=shape)
    reply.raw_output_contents.append(content)


@asynccontextmanager
async def served() -> AsyncIterator[tuple[str, Models]]:
    """Its address and what it was asked."""
    models, server = Models(), aio.server()
    unary = {"ModelInfer": models.infer, "ModelConfig": models.config, "ModelReady": models.ready}
    methods: dict[str, Any] = {
        name: grpc.unary_unary_rpc_method_handler(
            method, message(f"{name}Request").FromString, message(f"{name}Response").SerializeToString
        )
        for name, method in unary.items()
    }
    methods["ModelStreamInfer"] = grpc.stream_stream_rpc_method_handler(
        models.stream,
        message("ModelInferRequest").FromString,
        message("ModelStreamInferResponse").SerializeToString,
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}", models
    await server.stop(0)
