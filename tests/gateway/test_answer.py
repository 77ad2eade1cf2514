"""One answer, over a real channel, from parts whose replies are obvious."""

import pytest
from grpc import StatusCode, aio

from gateway.questions import Limits
from radrag.assistant.v1 import assistant_pb2 as wire
from tests.gateway.channel import QUESTION, asking, generate, prompt, search, stream, without
from tests.gateway.fakes import ANSWER, MESSAGES, PIPELINE, WORKERS, saying


async def test_the_best_source_comes_first_and_the_answer_cites_it() -> None:
    reply = await generate(PIPELINE)
    assert reply.outcome == wire.OUTCOME_ANSWERED
    assert reply.reason == "complete"
    assert reply.text == ANSWER.strip()
    assert [parent.document.document_id for parent in reply.ranked_parents] == ["workers", "public"]
    (citation,) = reply.citations
    assert citation.verified
    assert citation.document_id == "workers"
    assert reply.text[citation.text_start : citation.text_end] == reply.text.splitlines()[1]
    assert WORKERS[citation.start - 100 : citation.end - 100] == citation.quote
    assert citation.quote == "The annual dose limit for workers is 20 mSv."


async def test_sources_come_first_then_text_then_one_finish() -> None:
    first, *texts, last = await stream(PIPELINE)
    assert [frame.WhichOneof("event") for frame in (first, last)] == ["sources", "finish"]
    assert {frame.WhichOneof("event") for frame in texts} == {"text"}
    assert "".join(frame.text for frame in texts) == ANSWER.strip()
    assert first.sources.ranked_parents[0].document.document_id == "workers"
    assert first.sources.request_id


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        "The annual dose limit for workers is 20 mSv [1]. Coffee is good for everybody.",
        "The annual dose limit for workers is 20 mSv [7].",
        "Insufficient evidence. Ask about a country.",
        "The annual dose limit for workers is 20 mSv [1]. The sources do not give the limit for pilots.",
        "",
    ],
)
async def test_streamed_and_not_streamed_say_the_same(answer: str) -> None:
    pipeline = without(generate=saying(*answer))
    whole = await generate(pipeline)
    first, *texts, last = await stream(pipeline)
    assert "".join(frame.text for frame in texts) == whole.text
    assert list(first.sources.ranked_parents) == list(whole.ranked_parents)
    assert list(last.finish.citations) == list(whole.citations)
    assert list(last.finish.warnings) == list(whole.warnings)
    assert (last.finish.outcome, last.finish.reason) == (whole.outcome, whole.reason)
    assert last.finish.manifest == whole.manifest


async def test_a_generator_that_refuses_gives_the_fixed_message_and_nothing_of_its_own() -> None:
    reply = await generate(without(generate=saying("The sources do not say. ", "It may be 5 mSv.")))
    assert reply.outcome == wire.OUTCOME_INSUFFICIENT_EVIDENCE
    assert reply.reason == "generator_refused"
    assert reply.text == MESSAGES.insufficient("en")
    assert not reply.citations


async def test_below_the_threshold_no_generator_is_asked() -> None:
    asked: list[str] = []

    async def generator(text: str, max_tokens: int):  # type: ignore[no-untyped-def]
        asked.append(text)
        yield

    reply = await generate(without(generate=generator), "Which contrast agent suits renal failure?")
    assert (reply.outcome, reply.reason) == (wire.OUTCOME_INSUFFICIENT_EVIDENCE, "below_threshold")
    assert reply.text == MESSAGES.insufficient("en")
    assert not asked


async def test_out_of_scope_calls_nothing_at_all() -> None:
    async def never(*args: object) -> object:
        raise AssertionError

    pipeline = without(embed=never, search=never, rerank=never)
    reply = await generate(pipeline, "What treatment should my patient have for this nodule?")
    assert (reply.outcome, reply.reason) == (wire.OUTCOME_OUT_OF_SCOPE, "scope")
    assert reply.text == MESSAGES.deferral("individual_patient", "en")
    assert not reply.ranked_parents


async def test_search_applies_no_threshold_its_outcome_is_advice() -> None:
    reply = await search(PIPELINE, "Which contrast agent suits renal failure?")
    assert reply.outcome == wire.OUTCOME_INSUFFICIENT_EVIDENCE
    assert len(reply.ranked_parents) == 2


async def test_scores_are_separate_and_absent_where_there_are_none() -> None:
    reply = await search(PIPELINE)
    scores = reply.ranked_parents[0].scores
    assert (round(scores.dense, 3), scores.bm25, round(scores.fused, 3)) == (0.9, 7.0, 0.03)
    assert scores.HasField("rerank")
    assert not reply.ranked_parents[0].children[0].scores.HasField("rerank")


async def test_the_prompt_is_empty_unless_a_generator_is_worth_asking() -> None:
    good, bad = await prompt(PIPELINE), await prompt(PIPELINE, "Which contrast agent suits renal failure?")
    assert '<source number="1" title="Title of workers"' in good.prompt
    assert good.query == QUESTION
    assert not good.message
    assert (bad.prompt, bad.message) == ("", MESSAGES.insufficient("en"))
    assert bad.ranked_parents


async def test_a_reply_says_where_the_time_went_and_what_made_it() -> None:
    reply = await generate(PIPELINE)
    names = [stage.name for stage in reply.stages]
    assert names == ["scope", "embed", "search", "rerank", "prompt", "generate", "verify"]
    assert {stage.outcome for stage in reply.stages} == {"ok"}
    manifest = reply.manifest
    assert (manifest.index_generation, manifest.index_revision) == ("g1", 7)
    assert list(manifest.document_versions) == ["workers@0123456789abcdef", "public@0123456789abcdef"]
    assert len(manifest.prompt_sha256) == 64
    assert (manifest.settings_sha256, manifest.as_of) == ("abc", "2026-12-01")
    assert manifest.models[0].weights_sha256 == "ff"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 1)


async def test_fewer_sources_are_a_prefix_of_more() -> None:
    request = wire.SearchRequest(question=QUESTION)
    async with asking(PIPELINE) as stub:
        more = await stub.Search(request)
        request.limits.sources = 1
        fewer = await stub.Search(request)
    assert list(fewer.ranked_parents) == list(more.ranked_parents)[:1]


async def test_info_names_models_topics_limits_and_the_index() -> None:
    async with asking(PIPELINE) as stub:
        info = await stub.GetInfo(wire.GetInfoRequest())
    assert list(info.topics) == ["safety", "physics"]
    assert info.limits.sources == Limits().sources
    assert (info.index_generation, info.index_revision, info.settings_sha256) == ("g1", 7, "abc")
    assert info.max_question_characters == 2000


async def test_feedback_is_checked_and_then_refused_while_nobody_keeps_it() -> None:
    good = wire.SubmitFeedbackRequest(request_id="r", ratings=wire.SubmitFeedbackRequest.Ratings(safety=5))
    async with asking(PIPELINE) as stub:
        with pytest.raises(aio.AioRpcError) as refused:
            await stub.SubmitFeedback(good)
    assert refused.value.code() is StatusCode.UNAVAILABLE
    assert "not configured" in (refused.value.details() or "")


async def test_a_question_in_russian_gets_the_russian_message() -> None:
    reply = await generate(PIPELINE, "Какой контраст вводят при почечной недостаточности?")
    assert reply.text == MESSAGES.insufficient("ru")
