"""Parts die; what is left answers, says what is missing, and nothing hangs."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import Unavailable
from tests.integration.conftest import Stack, environ, gateway, lent
from tests.ports import free_grpc_port

QUESTION = "What is the yearly occupational limit for the eye lens under ICRP since 2011?"


def degraded(reply: pb.SearchResponse | pb.PromptResponse | pb.GenerateResponse) -> set[str]:
    warnings = cast(Iterable[pb.Warning], reply.warnings)
    return {warning.detail for warning in warnings if warning.kind == pb.Warning.KIND_DEGRADED}


async def test_without_its_reranker_a_search_keeps_the_fused_order_and_says_so(
    stack: Stack, triton: TritonServer, tmp_path: Path
) -> None:
    reranker = TritonServer(Child("reranker", tmp_path), ("lexical_late_interaction",), free_grpc_port())
    async with lent(reranker):
        settings = environ(tmp_path, triton.grpc, reranker.grpc, triton.grpc)
        settings["RADRAG_RETRIEVAL_ADDRESS"] = stack.retrieval
        async with gateway(settings) as address, AsyncClient(address) as client:
            before = await client.search(QUESTION)
            reranker.kill()
            after = await client.search(QUESTION)
    assert not degraded(before)
    assert degraded(after) == {"reranker"}
    fused = [parent.scores.fused for parent in after.ranked_parents]
    assert fused == sorted(fused, reverse=True)
    assert not any(parent.scores.HasField("rerank") for parent in after.ranked_parents)


async def test_with_all_of_triton_dead_search_and_prompt_answer_from_words(
    stack: Stack, tmp_path: Path
) -> None:
    nobody = f"127.0.0.1:{free_grpc_port()}"
    settings = environ(tmp_path, nobody, nobody, nobody, RADRAG_MODEL_PATIENCE_SECONDS="0")
    settings["RADRAG_RETRIEVAL_ADDRESS"] = stack.retrieval
    async with gateway(settings) as address, AsyncClient(address, deadline=5) as client:
        for ask in (client.search, client.prompt):
            began = time.monotonic()
            reply = await ask(QUESTION)
            assert degraded(reply) == {"embedder", "reranker", "generator"}
            assert reply.ranked_parents
            assert time.monotonic() - began < 5
        with pytest.raises(Unavailable) as refused:
            await client.generate(QUESTION)
        assert refused.value.reason == "GENERATOR_UNAVAILABLE"
