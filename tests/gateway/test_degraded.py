"""What is left when a part is missing, and that every such reply says so."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode, aio
from grpc_status import rpc_status
from prometheus_client import REGISTRY

from gateway.passage import Found, QueryVector
from gateway.questions import Question
from gateway.sufficiency import Judge
from gateway.thresholds import Thresholds
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.errors import FailedPrecondition, IndexUnavailable, Overloaded
from radrag.triton import Score
from tests.gateway.channel import generate, prompt, search, stream, without
from tests.gateway.fakes import PASSAGES, PIPELINE, down, no_generator
from tests.retrieval.making import Made, made
from tests.retrieval.running import room

DEGRADED = wire.Warning.KIND_DEGRADED
KNOWN = "What is the annual dose limit for workers?"


def missing(warnings: Sequence[object]) -> list[str]:
    return [one.detail for one in cast("Sequence[wire.Warning]", warnings) if one.kind == DEGRADED]


def degraded_total(what: str) -> float:
    return REGISTRY.get_sample_value("radrag_degraded_total", {"what": what}) or 0.0


async def unready() -> bool:
    return False


async def test_without_reranker_the_fused_order_stands_and_the_second_threshold_decides() -> None:
    before = degraded_total("reranker")
    reply = await generate(without(rerank=down("reranker")), KNOWN)
    assert missing(reply.warnings) == ["reranker"]
    assert [one.document.document_id for one in reply.ranked_parents] == ["public", "workers"]
    assert not reply.ranked_parents[0].scores.HasField("rerank")
    assert degraded_total("reranker") == before + 1
    # The fake generator still quotes source 1, which is now another one: nothing it says is supported.
    assert (reply.outcome, reply.reason) == (wire.OUTCOME_INSUFFICIENT_EVIDENCE, "unsupported")


@pytest.mark.parametrize(
    ("question", "outcome"),
    [(KNOWN, wire.OUTCOME_ANSWERED), ("What is the halo sign?", wire.OUTCOME_INSUFFICIENT_EVIDENCE)],
)
async def test_without_reranker_the_questions_words_must_stand_in_a_passage(
    question: str, outcome: int
) -> None:
    assert (await search(without(rerank=down("reranker")), question)).outcome == outcome


async def test_without_reranker_and_second_threshold_there_is_never_enough() -> None:
    judge = Judge(Thresholds(rerank={"counting": 0.1}), "counting")
    reply = await search(without(rerank=down("reranker"), judge=judge), KNOWN)
    assert reply.outcome == wire.OUTCOME_INSUFFICIENT_EVIDENCE


async def test_an_unknown_reranker_is_never_enough() -> None:
    reply = await search(without(judge=Judge(Thresholds(), "counting")), KNOWN)
    assert reply.outcome == wire.OUTCOME_INSUFFICIENT_EVIDENCE


async def test_without_embedder_words_alone_are_searched() -> None:
    seen: list[QueryVector | None] = []

    async def found(question: Question, vector: QueryVector | None) -> Found:
        seen.append(vector)
        return Found(PASSAGES, ("dense",), "g1", 7)

    reply = await generate(without(embed=down("embedder"), search=found), KNOWN)
    assert seen == [None]
    assert not reply.manifest.models
    assert missing(reply.warnings) == ["embedder"]
    assert reply.outcome == wire.OUTCOME_ANSWERED


async def test_a_lost_bm25_leg_is_told() -> None:
    async def found(question: Question, vector: QueryVector | None) -> Found:
        return Found(PASSAGES, ("bm25",), "g1", 7)

    assert missing((await search(without(search=found), KNOWN)).warnings) == ["bm25"]


@pytest.mark.parametrize("documents", [(), (made("kidney", "Renal cysts are common."),)])
async def test_a_search_that_finds_nothing_lacks_no_part(tmp_path: Path, documents: tuple[Made, ...]) -> None:
    """In an empty knowledge base, and on a day before anything was in force."""

    async def found(question: Question, vector: QueryVector | None) -> Found:
        got = await here.search(question.text, day=-1)
        return Found((), tuple(got.missing_legs), got.generation, got.revision)

    before = degraded_total("bm25"), degraded_total("dense")
    async with room(tmp_path) as here:
        for one in documents:
            await here.publish(one)
        reply = await generate(without(search=found), KNOWN)
    assert (reply.outcome, reply.reason) == (wire.OUTCOME_INSUFFICIENT_EVIDENCE, "no_sources")
    assert not reply.warnings
    assert (degraded_total("bm25"), degraded_total("dense")) == before


async def test_without_generator_there_is_a_status_before_the_first_frame() -> None:
    for ask in (generate, stream):
        with pytest.raises(aio.AioRpcError) as failure:
            await ask(without(generate=no_generator), KNOWN)
        assert failure.value.code() is StatusCode.UNAVAILABLE
        info = error_details_pb2.ErrorInfo()
        assert rpc_status.from_call(failure.value).details[0].Unpack(info)  # type: ignore[arg-type]
        assert info.reason == "GENERATOR_UNAVAILABLE"


TRITON_DEAD = without(
    embed=down("embedder"), rerank=down("reranker"), generate=no_generator, generator_ready=unready
)


async def test_with_all_of_triton_dead_search_and_prompt_answer_with_three_warnings() -> None:
    for reply in (await search(TRITON_DEAD, KNOWN), await prompt(TRITON_DEAD, KNOWN)):
        assert missing(reply.warnings) == ["embedder", "reranker", "generator"]
        assert len(reply.ranked_parents) == 2
        assert reply.outcome == wire.OUTCOME_INSUFFICIENT_EVIDENCE


async def test_with_all_of_triton_dead_generate_is_unavailable_within_a_second() -> None:
    with pytest.raises(aio.AioRpcError) as failure:
        await generate(TRITON_DEAD, KNOWN, seconds=1.0)
    assert failure.value.code() is StatusCode.UNAVAILABLE


async def test_with_all_of_triton_hanging_search_answers_within_its_deadline() -> None:
    async def hangs(*args: object) -> bool:
        await asyncio.sleep(60)
        return True

    pipeline = without(embed=hangs, rerank=hangs, generator_ready=hangs)
    reply = await search(pipeline, KNOWN, seconds=1.0)
    assert missing(reply.warnings) == ["embedder", "reranker", "generator"]


async def test_a_failed_rerank_row_stands_last_and_is_told() -> None:
    async def scores(question: str, passages: Sequence[str]) -> list[Score]:
        return [Score(math.nan, False), Score(0.0, False)]

    reply = await search(without(rerank=scores), KNOWN)
    assert [one.document.document_id for one in reply.ranked_parents] == ["workers", "public"]
    assert reply.ranked_parents[0].scores.HasField("rerank")
    assert not reply.ranked_parents[1].scores.HasField("rerank")
    (warning,) = cast("Sequence[wire.Warning]", reply.warnings)
    assert (warning.kind, warning.detail) == (wire.Warning.KIND_RERANK_ROW_FAILED, "1")


async def test_a_reranker_whose_rows_all_fail_is_missing() -> None:
    async def scores(question: str, passages: Sequence[str]) -> list[Score]:
        return [Score(math.nan, False)] * len(passages)

    assert missing((await search(without(rerank=scores), KNOWN)).warnings) == ["reranker"]


@pytest.mark.parametrize(
    ("score", "outcome"),
    [(0.0, wire.OUTCOME_INSUFFICIENT_EVIDENCE), (0.4999, wire.OUTCOME_INSUFFICIENT_EVIDENCE),
     (0.5, wire.OUTCOME_ANSWERED), (1.0, wire.OUTCOME_ANSWERED)],
)  # fmt: skip
async def test_the_threshold_holds_after_the_reranker_at_its_boundary(score: float, outcome: int) -> None:
    async def scores(question: str, passages: Sequence[str]) -> list[Score]:
        return [Score(score, False)] * len(passages)

    assert (await search(without(rerank=scores), KNOWN)).outcome == outcome


async def test_nothing_found_is_no_sources() -> None:
    async def nothing(question: Question, vector: QueryVector | None) -> Found:
        return Found((), ("dense", "bm25"), "g1", 7)

    reply = await generate(without(search=nothing), KNOWN)
    assert (reply.outcome, reply.reason) == (wire.OUTCOME_INSUFFICIENT_EVIDENCE, "no_sources")


async def test_an_overloaded_model_is_no_missing_one_the_caller_may_come_back() -> None:
    async def full(question: str, passages: Sequence[str]) -> list[Score]:
        raise Overloaded("the reranker's queue is full", 1.0)

    with pytest.raises(aio.AioRpcError) as failure:
        await search(without(rerank=full), KNOWN)
    assert failure.value.code() is StatusCode.RESOURCE_EXHAUSTED


async def test_without_the_index_there_is_no_answer() -> None:
    async def gone(question: Question, vector: QueryVector | None) -> Found:
        raise IndexUnavailable

    with pytest.raises(aio.AioRpcError) as failure:
        await search(without(search=gone), KNOWN)
    assert failure.value.code() is StatusCode.UNAVAILABLE


async def test_an_index_that_moved_to_a_new_generation_is_searched_once_more() -> None:
    current = ["g1"]

    async def found(question: Question, vector: QueryVector | None) -> Found:
        if current == ["g1"]:
            raise FailedPrecondition("generation g1 is gone")
        return Found(PASSAGES, (), current[0], 8)

    async def renew() -> None:
        current[0] = "g2"

    reply = await search(without(search=found, renew_index=renew), KNOWN)
    assert reply.manifest.index_generation == "g2"


async def test_a_slow_stage_does_not_outlive_the_callers_deadline() -> None:
    ended = asyncio.Event()

    async def slow(question: Question, vector: QueryVector | None) -> Found:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return Found(())

    with pytest.raises(aio.AioRpcError) as failure:
        await search(without(search=slow), KNOWN, seconds=0.5)
    assert failure.value.code() is StatusCode.DEADLINE_EXCEEDED
    assert ended.is_set()


async def test_the_budget_of_a_stage_is_its_own_cap_where_the_caller_sets_none() -> None:
    async def slow(text: str) -> QueryVector:
        await asyncio.sleep(60)
        raise AssertionError

    seconds = replace(PIPELINE.seconds, embed=0.05)
    reply = await search(without(embed=slow, seconds=seconds), KNOWN)
    assert missing(reply.warnings) == ["embedder"]
