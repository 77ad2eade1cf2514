"""DeepEval's metrics with a judge of ours. Needs the extra `judge`; nothing leaves the machine but prompts.

DeepEval decides what the judge is asked and how verdicts become a score. Faithfulness penalises claims that
the sources neither support nor contradict, which DeepEval would let pass. Correctness is a G-Eval.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.bounded import Progress, each, silent
from evaluation.judging.judge import Complete, object_in
from evaluation.judging.outcomes import NONSENSE, TIMEOUT, Case, JudgeFailure, Outcome, outcome

# DeepEval reads them when it is imported: no telemetry, no look for updates, no .env, no files.
OFFLINE = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_DISABLE_TIMEOUTS": "1",  # ours hold
    "ERROR_REPORTING": "0",
}
REMOVED = ("CONFIDENT_API_KEY", "DEEPEVAL_UPDATE_WARNING_OPT_IN", "OPENAI_API_KEY")

os.environ.update(OFFLINE)
for name in REMOVED:
    os.environ.pop(name, None)

from deepeval import metrics  # noqa: E402  after its settings
from deepeval.models import DeepEvalBaseLLM  # noqa: E402
from deepeval.test_case import LLMTestCase, SingleTurnParams  # noqa: E402
from pydantic import BaseModel, ValidationError  # noqa: E402

CORRECTNESS_STEPS = [
    "Compare the actual output with the expected output, statement by statement.",
    "A wrong number, unit, side, negation or classification makes the output wrong.",
    "Missing statements that a radiologist would need lower the score; more detail does not.",
    "The language of the output does not matter.",
]


class JudgeModel(DeepEvalBaseLLM):  # type: ignore[misc]
    """DeepEval's view of a judge; `failure` is the last one, which DeepEval may wrap beyond recognition."""

    def __init__(self, complete: Complete, judge: str) -> None:
        self._complete, self._judge, self.failure = complete, judge, ""
        super().__init__(judge)

    def load_model(self, *args: Any, **named: Any) -> "JudgeModel":
        """Nothing to load: the model is a server's."""
        return self

    def get_model_name(self, *args: Any, **named: Any) -> str:
        """The judge's name."""
        return self._judge

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """Unused: everything here is asynchronous."""
        raise NotImplementedError("use a_generate")

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """The reply as an object of the schema, or as text where DeepEval gives none. Raises JudgeFailure."""
        try:
            text = await self._complete(prompt, None if schema is None else schema.model_json_schema())
            return text if schema is None else schema.model_validate(object_in(text))
        except JudgeFailure as error:
            self.failure = error.kind
            raise
        except ValidationError:
            self.failure = NONSENSE
            raise JudgeFailure(NONSENSE) from None


def _correctness(**given: Any) -> Any:
    given.pop("include_reason")
    parts = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT]
    return metrics.GEval("Correctness", parts, evaluation_steps=CORRECTNESS_STEPS, **given)


METRICS: Mapping[str, Callable[..., Any]] = {
    "contextual_precision": metrics.ContextualPrecisionMetric,
    "contextual_recall": metrics.ContextualRecallMetric,
    "contextual_relevancy": metrics.ContextualRelevancyMetric,
    "answer_relevancy": metrics.AnswerRelevancyMetric,
    "faithfulness": lambda **given: metrics.FaithfulnessMetric(penalize_ambiguous_claims=True, **given),
    "correctness": _correctness,
}

FROM_SOURCES = ("contextual_precision", "contextual_recall", "contextual_relevancy", "faithfulness")
FROM_REFERENCE = ("contextual_precision", "contextual_recall", "correctness")


async def judge(
    cases: Sequence[Case],
    complete: Complete,
    name: str,
    *,
    chosen: Sequence[str] = tuple(METRICS),
    repetitions: int = 1,
    at_once: int = 4,
    seconds: float = 600.0,
    progress: Progress = silent,
) -> list[Outcome]:
    """Every answered case by every metric, `repetitions` times; `seconds` for one metric of one case."""
    work = [
        (case, metric, k)
        for case in cases
        for metric in chosen
        if _has_what_it_needs(case, metric)
        for k in range(repetitions)
    ]

    async def one(item: tuple[Case, str, int]) -> Outcome:
        return await _judged(*item, JudgeModel(complete, name), seconds)

    return await each(one, work, at_once, "judging", progress)


def _has_what_it_needs(case: Case, metric: str) -> bool:
    """A model alone has no sources to be judged by, and an open question no reference."""
    return (
        case.answered
        and (bool(case.sources) or metric not in FROM_SOURCES)
        and (bool(case.reference.strip()) or metric not in FROM_REFERENCE)
    )


async def _judged(case: Case, metric: str, repetition: int, model: JudgeModel, seconds: float) -> Outcome:
    asked = METRICS[metric](model=model, include_reason=False, async_mode=True)
    given = LLMTestCase(
        input=case.question,
        actual_output=case.answer,
        expected_output=case.reference,
        retrieval_context=list(case.sources),
    )
    try:
        async with asyncio.timeout(seconds):
            score = await asked.a_measure(given, _show_indicator=False)
    except TimeoutError:
        return Outcome(case.id, metric, repetition, None, TIMEOUT)
    except Exception:  # noqa: BLE001  whatever DeepEval makes of a failed judge: it is counted, not raised
        return Outcome(case.id, metric, repetition, None, model.failure or NONSENSE)
    if not _whole(asked, metric, len(case.sources)):
        return Outcome(case.id, metric, repetition, None, NONSENSE)
    return outcome(case.id, metric, repetition, score)


def _whole(asked: Any, metric: str, sources: int) -> bool:
    """Whether the judge ruled on all it was asked: DeepEval scores missing verdicts as 0, or as 1."""
    wanted = {
        "contextual_precision": lambda: sources,
        "answer_relevancy": lambda: len(asked.statements),
        "faithfulness": lambda: len(asked.claims),
    }
    if metric == "correctness":
        return True
    if metric == "contextual_relevancy":
        return any(one.verdicts for one in asked.verdicts_list)
    ruled = len(asked.verdicts)
    return ruled > 0 and (metric not in wanted or ruled == wanted[metric]())
