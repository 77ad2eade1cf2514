"""DeepEval with a judge of known verdicts, and with judges that fail. `make test-judge` runs these."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deepeval", reason="DeepEval has an environment of its own: make test-judge")

from evaluation.judging import metrics
from evaluation.judging.judge import Complete
from evaluation.judging.outcomes import METRICS, NONSENSE, NOT_A_NUMBER, TIMEOUT, Case, JudgeFailure, Outcome

CASE = Case("a", "What is the dose?", "It is 20 mSv. It is yearly.", "20 mSv a year.", ("s1", "s2", "s3"))
YES, NO, MAYBE = ({"verdict": one, "statement": "s", "reason": "r"} for one in ("yes", "no", "borderline"))


def judge_of(**replies: Any) -> Complete:
    """A judge with a fixed reply for each field that DeepEval asks for."""
    fixed = {"statements": ["a", "b"], "claims": ["a", "b"], "truths": ["t"], "reason": "r", "score": 7}

    async def complete(prompt: str, schema: Mapping[str, object] | None) -> str:
        assert schema is not None
        fields = schema["properties"]
        assert isinstance(fields, dict)
        return json.dumps({name: (fixed | replies)[name] for name in fields})

    return complete


async def scored(complete: Complete, metric: str, case: Case = CASE, seconds: float = 20.0) -> Outcome:
    (found,) = await metrics.judge([case], complete, "fake", chosen=[metric], seconds=seconds)
    return found


@pytest.mark.parametrize(
    ("metric", "verdicts", "score"),
    [
        ("contextual_precision", [YES, NO, YES], (1 + 2 / 3) / 2),
        ("contextual_precision", [NO, NO, NO], 0),
        ("contextual_recall", [YES, NO], 0.5),
        ("contextual_relevancy", [YES, NO, NO, NO], 0.25),
        ("answer_relevancy", [YES, NO], 0.5),
        ("faithfulness", [YES, YES], 1),
        ("faithfulness", [YES, MAYBE], 0.5),  # neither supported nor contradicted: it does not pass
    ],
)
async def test_verdicts_become_deepevals_score(metric: str, verdicts: list[Any], score: float) -> None:
    found = await scored(judge_of(verdicts=verdicts), metric)
    assert found.score == pytest.approx(score)
    assert found.failure == ""


async def test_correctness_is_a_tenth_of_the_judges_points() -> None:
    assert (await scored(judge_of(score=7), "correctness")).score == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("metric", "verdicts"),
    [
        ("contextual_precision", []),
        ("contextual_precision", [YES]),  # of three sources
        ("contextual_recall", []),
        ("contextual_relevancy", []),
        ("answer_relevancy", [YES]),
        ("faithfulness", []),
        ("faithfulness", [YES, YES, YES]),
        ("faithfulness", [{"verdict": "perhaps"}]),
        ("faithfulness", "yes"),
    ],
)
async def test_missing_and_invented_verdicts_are_failures(metric: str, verdicts: object) -> None:
    assert await scored(judge_of(verdicts=verdicts), metric) == Outcome("a", metric, 0, None, NONSENSE)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 70, -1])
async def test_a_score_off_the_scale_is_a_failure(score: float) -> None:
    assert await scored(judge_of(score=score), "correctness") == Outcome(
        "a", "correctness", 0, None, NOT_A_NUMBER
    )


@pytest.mark.parametrize("metric", list(metrics.METRICS))
async def test_a_judge_that_fails_or_hangs_is_counted_by_name(metric: str) -> None:
    async def nonsense(prompt: str, schema: Mapping[str, object] | None) -> str:
        return "I would rather not say."

    async def failing(prompt: str, schema: Mapping[str, object] | None) -> str:
        raise JudgeFailure(TIMEOUT)

    async def hanging(prompt: str, schema: Mapping[str, object] | None) -> str:
        await asyncio.sleep(60)
        return ""

    assert await scored(nonsense, metric) == Outcome("a", metric, 0, None, NONSENSE)
    assert await scored(failing, metric) == Outcome("a", metric, 0, None, TIMEOUT)
    assert await scored(hanging, metric, seconds=0.2) == Outcome("a", metric, 0, None, TIMEOUT)


async def test_an_empty_answer_is_not_judged() -> None:
    empty = Case("e", "q", " ", "r", ("s",))
    assert await metrics.judge([empty], judge_of(verdicts=[YES]), "fake") == []


async def test_repetitions_are_judged_apart() -> None:
    found = await metrics.judge([CASE], judge_of(), "fake", chosen=["correctness"], repetitions=3)
    assert [one.repetition for one in found] == [0, 1, 2]


def test_deepeval_stays_offline() -> None:
    assert os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] == "1"
    assert "CONFIDENT_API_KEY" not in os.environ


def test_the_command_starts_in_the_judge_s_own_environment() -> None:
    from cli import evaluate_answers

    assert evaluate_answers.READER.numbers("20 mSv [1].") == [("20", "mSv")]


def test_the_commands_know_every_metric() -> None:
    assert tuple(metrics.METRICS) == METRICS


async def test_a_metric_is_left_out_where_it_has_nothing_to_go_by() -> None:
    """The model alone has no sources; an open question has no reference."""
    bare = replace(CASE, sources=(), reference="")
    found = await metrics.judge([bare, replace(CASE, answer="")], judge_of(verdicts=[YES, YES]), "fake")
    assert {one.metric for one in found} == {"answer_relevancy"}


def test_results_alone_are_on_stdout(tmp_path: Path) -> None:
    """DeepEval greets whoever imports it; a judge that nobody reaches is counted for each metric."""
    line = {"id": "a", "question": "?", "answer": "20 mSv.", "reference": "r", "sources": ["s"]}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line), encoding="utf-8")
    words = ["eval", "answers", str(tmp_path / "answers.jsonl"), "--judge", "http://127.0.0.1:9/v1", "--json"]
    done = subprocess.run([sys.executable, "-m", "cli", *words], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert {one["metric"]: one["failures"] for one in found["judged"]} == {
        name: {"unavailable": 1} for name in METRICS
    }
    assert not set(METRICS) & set(found["scores"])
