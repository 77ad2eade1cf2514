"""Verdicts on replies that can be judged by eye, and the table they add up to."""

import json
from collections.abc import Sequence

import pytest

from evaluation import functional, report, tally
from evaluation.functional import Answer, Service, Verdict
from evaluation.questions import Question, Quote
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.errors import DeadlineExceeded

FIXED = "The knowledge base does not hold enough to answer."
LENS = Question("q1", "safety", "en", "lens?", True, evidence=((Quote("icrp", "20 mSv  in a\nyear"),),))
NEAR_MISS = Question("q2", "safety", "ru", "хрусталик плода?", False)
EITHER_OR_BOTH = Question(
    "q3", "physics", "en", "?", True,
    evidence=((Quote("a", "one"), Quote("b", "two")), (Quote("c", "three"),)),
)  # fmt: skip


def source(document: str, text: str = "", rerank: float | None = None) -> pb.RankedParent:
    return pb.RankedParent(
        document=pb.Document(document_id=document), text=text, scores=pb.Scores(rerank=rerank)
    )


def answered(*sources: pb.RankedParent, verified: Sequence[bool] = (True,)) -> pb.GenerateResponse:
    citations = [pb.Citation(verified=one) for one in verified]
    return pb.GenerateResponse(
        outcome=pb.OUTCOME_ANSWERED, text="20 mSv [1]", ranked_parents=sources, citations=citations
    )


def refused(text: str = FIXED) -> pb.GenerateResponse:
    return pb.GenerateResponse(outcome=pb.OUTCOME_INSUFFICIENT_EVIDENCE, text=text, reason="below_threshold")


def verdict(question: Question, reply: pb.GenerateResponse, candidates: Sequence[str] = ()) -> Verdict:
    return functional.judged(question, Answer(reply, candidates), {FIXED})


def test_an_answer_with_its_evidence_second_passes() -> None:
    reply = answered(source("other", rerank=0.25), source("icrp", "is 20 mSv in a year.", rerank=0.5))
    one = verdict(LENS, reply, ["x", "icrp"])
    assert one.passed
    assert (one.rank, one.quoted, one.among_candidates, one.best_rerank) == (2, True, True, 0.5)


def test_the_right_document_without_the_quote_is_not_quoted() -> None:
    one = verdict(LENS, answered(source("icrp", "is 50 mSv in a year."), source("x", "20 mSv in a year")))
    assert one.among_sources
    assert not one.quoted


def test_an_answer_from_other_documents_fails() -> None:
    assert not verdict(LENS, answered(source("other"))).passed


def test_an_unverified_citation_fails() -> None:
    assert not verdict(LENS, answered(source("icrp"), verified=[True, False])).passed
    assert not verdict(LENS, answered(source("icrp"), verified=[])).passed


def test_all_documents_of_one_alternative_are_needed() -> None:
    assert not verdict(EITHER_OR_BOTH, answered(source("a"))).among_sources
    assert verdict(EITHER_OR_BOTH, answered(source("a"), source("b"))).among_sources
    assert verdict(EITHER_OR_BOTH, answered(source("c"))).among_sources


def test_a_refusal_says_the_fixed_message_and_nothing_else() -> None:
    assert verdict(NEAR_MISS, refused()).passed
    assert not verdict(NEAR_MISS, refused(FIXED + " But 20 mSv.")).passed
    assert not verdict(NEAR_MISS, answered(source("icrp"))).passed


def test_a_question_out_of_scope_is_not_what_a_near_miss_expects() -> None:
    reply = pb.GenerateResponse(outcome=pb.OUTCOME_OUT_OF_SCOPE, text=FIXED)
    assert not verdict(NEAR_MISS, reply).passed


def test_a_degraded_reply_names_what_it_lacked() -> None:
    reply = refused()
    reply.warnings.add(kind=pb.Warning.KIND_DEGRADED, detail="reranker")
    reply.warnings.add(kind=pb.Warning.KIND_TRUNCATED, detail="embedder")
    assert verdict(NEAR_MISS, reply).missing == ("reranker",)


async def test_a_failed_call_is_a_verdict_of_its_own() -> None:
    async def generate(question: str) -> pb.GenerateResponse:
        if question == LENS.text:
            raise DeadlineExceeded("late")
        return refused()

    async def candidates(question: str) -> list[str]:
        return []

    service = Service(generate, candidates, {FIXED})
    failed, passed = await functional.run([LENS, NEAR_MISS], service)
    assert (failed.error, failed.outcome, failed.passed) == ("DeadlineExceeded", "UNSPECIFIED", False)
    assert passed.passed


VERDICTS = [
    verdict(LENS, answered(source("icrp", "20 mSv in a year")), ["icrp"]),
    verdict(LENS, refused(), ["icrp"]),
    verdict(NEAR_MISS, refused()),
    verdict(NEAR_MISS, answered(source("icrp"), verified=[True, False, False])),
]


def test_shares_by_hand() -> None:
    one = tally.tally(VERDICTS)
    assert (one.questions, one.answerable) == (4, 2)
    assert (one.passed_answerable, one.first, one.five, one.thirteen, one.quoted) == (0.5, 0.5, 0.5, 1, 0.5)
    assert one.verified == 0.5  # 2 of 4 citations
    assert (one.refused, one.refusal_precision, one.fixed_text) == (0.5, 0.5, 1)


def test_nothing_to_share_out_is_none_not_zero() -> None:
    one = tally.tally(VERDICTS[:1])
    assert one.refused is None
    assert one.refusal_precision is None


def test_groups_are_topics_languages_and_crossings() -> None:
    groups = tally.groups(VERDICTS)
    assert list(groups) == ["all", "topic safety", "language en", "language ru", "complexity 0"]
    assert groups["language ru"].answerable == 0


def test_a_share_below_what_is_required_is_named() -> None:
    one = tally.tally(VERDICTS)
    assert tally.below(one, {"refused": 0.5, "thirteen": 1.0}) == []
    assert tally.below(one, {"refused": 0.8}) == ["refused is 0.500, required is 0.800"]


def test_what_cannot_be_measured_does_not_meet_a_requirement() -> None:
    assert tally.below(tally.tally(VERDICTS[:1]), {"refused": 0.0}) == [
        "refused is not measured, required is 0.000"
    ]


def test_the_failures_are_named() -> None:
    headings, rows = report.failure_table(tally.failures(VERDICTS))
    assert [row[:3] for row in rows] == [
        ["q1", "answer", "INSUFFICIENT_EVIDENCE"],
        ["q2", "refusal", "ANSWERED"],
    ]
    assert all(len(row) == len(headings) for row in rows)


def test_json_has_no_question_and_no_answer_text() -> None:
    text = json.dumps([report.verdict_values(one) for one in VERDICTS], ensure_ascii=False)
    assert "хрусталик" not in text
    assert "mSv" not in text


def test_the_markdown_table_has_a_cell_for_each_heading() -> None:
    lines = report.markdown(report.functional_table(tally.groups(VERDICTS))).split("\n")
    assert len({line.count("|") for line in lines}) == 1
    assert "| all | 4 | 2 | 50 % |" in lines[2]


@pytest.mark.parametrize("name", tally.REQUIRABLE)
def test_every_requirable_share_has_a_column(name: str) -> None:
    assert name in report.COLUMN_NAMES


def test_unsupported_sentences_and_deferrals_are_counted_apart() -> None:
    reply = answered(source("icrp"))
    for kind in (pb.Warning.KIND_UNSUPPORTED_SENTENCE, pb.Warning.KIND_DEGRADED):
        reply.warnings.add(kind=kind)
    flagged, clean = verdict(LENS, reply), verdict(LENS, answered(source("icrp")))
    deferred = verdict(LENS, pb.GenerateResponse(outcome=pb.OUTCOME_OUT_OF_SCOPE, text=FIXED))
    assert (flagged.unsupported, clean.unsupported) == (1, 0)
    row = tally.tally([flagged, clean, deferred, verdict(NEAR_MISS, refused())])
    assert (row.supported, row.in_scope) == (0.5, 0.75)
    assert tally.below(row, {"supported": 1.0, "in_scope": 0.7}) == ["supported is 0.500, required is 1.000"]
