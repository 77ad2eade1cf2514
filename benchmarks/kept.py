"""The messages of one real call, kept for relays and for calls straight to a server."""

import struct
from collections.abc import Sequence
from typing import Any

from grpc import aio

from benchmarks.relays import Kept, message
from benchmarks.stand import Stand
from radrag.assistant.v1 import assistant_pb2 as assistant
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.retrieval.v1 import retrieval_pb2 as retrieval
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from radrag.triton import ModelServer

SAMPLING = '{"temperature": 0.1, "top_p": 0.9, "seed": 7, "max_tokens": 512}'
FLAGS = ("stream", "exclude_input_in_output", "return_finish_reason", "return_num_input_tokens",
         "return_num_output_tokens")  # fmt: skip


async def captured(stand: Stand, question: str, writer: str) -> Kept:
    """Makes the call step by step, straight to each server and through the gateway, and keeps what was said.

    `writer` is the generator whose request is kept.
    """
    folder = stand.home / "kept"
    folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder)
    kept.place("triton", stand.triton.grpc)
    kept.place("retrieval", stand.retrieval)
    asked = await searched(stand, question)
    async with aio.insecure_channel(stand.retrieval) as channel:
        found = await RetrievalServiceStub(channel).Search(asked)
    async with aio.insecure_channel(stand.gateway) as channel:
        front = AssistantServiceStub(channel)
        evidence = await front.Search(assistant.SearchRequest(question=question))
        prompted = await front.Prompt(assistant.PromptRequest(question=question))
    if not prompted.prompt:
        raise RuntimeError("the question to measure with gets no prompt")
    for name, said in (("search", asked), ("found", found), ("evidence", evidence), ("prompted", prompted)):
        kept.keep(name, said)
    embedder, reranker, _ = stand.models[:3]
    kept.keep("embed", embedding(embedder, question))
    kept.keep("rerank", reranking(reranker, question, [readable(one) for one in found.parents]))
    kept.keep("write", writing(writer, prompted.prompt))
    return kept


async def searched(stand: Stand, question: str) -> retrieval.SearchRequest:
    """The search that the gateway makes for a question."""
    server = ModelServer(stand.triton.grpc, "embedder")
    found = await server.embed(stand.models[0], question, "query")
    said = await server.parameters(stand.models[0])
    await server.close()
    embedder = retrieval.QueryEmbedder(
        name=stand.models[0], weights_sha256=said["weights_sha256"], dimension=int(said["dimension"])
    )
    return retrieval.SearchRequest(
        question=question, vector=found.vectors[0].tolist(), embedder=embedder, children=90, parents=13
    )


def readable(found: retrieval.FoundParent) -> str:
    """A passage as the reranker gets it."""
    above = (found.document.title, " > ".join(found.parent.heading_path), found.parent.context)
    return "\n".join(part for part in (*above, found.parent.text) if part)


def embedding(model: str, text: str) -> Any:
    """The tensors of one text."""
    spans = message("ModelInferRequest.InferInputTensor")(name="SPANS", datatype="INT32", shape=[1, 0, 2])
    asked = request(model, {"TEXT": [text], "TASK": ["query"]}, batched=True)
    asked.inputs.append(spans)
    asked.raw_input_contents.append(b"")
    return asked


def reranking(model: str, query: str, passages: Sequence[str]) -> Any:
    """The tensors of some pairs."""
    return request(model, {"QUERY": [query] * len(passages), "PASSAGE": list(passages)}, batched=True)


def writing(model: str, prompt: str, sampling: str = SAMPLING) -> Any:
    """The tensors of one prompt."""
    asked = request(model, {"text_input": [prompt], "sampling_parameters": [sampling]}, batched=False)
    for name in FLAGS:
        asked.inputs.add(name=name, datatype="BOOL", shape=[1])
        asked.raw_input_contents.append(b"\x01")
    return asked


def request(model: str, texts: dict[str, list[str]], batched: bool) -> Any:
    """A request of text tensors: a row each where the model takes batches."""
    asked: Any = message("ModelInferRequest")(model_name=model)
    for name, rows in texts.items():
        shape = [len(rows), 1] if batched else [len(rows)]
        asked.inputs.add(name=name, datatype="BYTES", shape=shape)
        asked.raw_input_contents.append(
            b"".join(struct.pack("<I", len(row.encode())) + row.encode() for row in rows)
        )
    return asked
