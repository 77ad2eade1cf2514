"""What a call costs, counted and not timed: calls of other services, and calls of Python functions.

The numbers were counted when written, with a tenth to spare: a change that needs more has to say why.
"""

import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.check import Checked, Checker
from gateway.conflicts import conflicts
from gateway.models import Model
from gateway.replies import Replies
from radrag import telemetry
from radrag.assistant.v1.assistant_pb2 import PromptResponse
from tests.gateway.fakes import PIPELINE, WORKERS, passage, question, saying
from tests.retrieval.making import made
from tests.retrieval.running import room

PROMPT, SEARCH, TOKEN = 650, 800, 65
UNRELATED = 41  # three sources of a hundred sentences that hold no word of the question
QUOTED, COMPARED = 100, 108  # a sentence quoted word for word; two sentences of two sources that disagree


async def counted(work: Callable[[], Awaitable[Any]]) -> tuple[int, Any]:
    """How many Python functions this thread entered for a piece of work, and what came of it."""
    entered = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal entered
        entered += event == "call"

    await work()  # what is done once is done
    sys.setprofile(note)
    try:
        done = await work()
    finally:
        sys.setprofile(None)
    return entered, done


async def test_a_prompt_asks_each_model_and_the_index_once() -> None:
    asked: list[str] = []

    def noting(name: str, stage: Any) -> Any:
        async def call(*args: object) -> object:
            asked.append(name)
            return await stage(*args)

        return call

    steps = ("embed", "search", "rerank", "generator_ready", "renew_index")
    pipeline = replace(PIPELINE, **{name: noting(name, getattr(PIPELINE, name)) for name in steps})
    prompted = await pipeline.write(question())
    assert prompted.prompt is not None
    assert asked == ["embed", "search", "rerank"]


async def test_a_prompt_and_its_reply_enter_few_functions() -> None:
    replies = Replies(lambda: [Model("embedder", "constant", "ff")], "abc")

    async def prompt() -> PromptResponse:
        recording = telemetry.record_stages()
        return replies.prompt(await PIPELINE.write(question()), recording.stages)

    entered, reply = await counted(prompt)
    assert reply.prompt
    assert entered <= PROMPT, entered


async def test_sources_that_were_read_before_are_not_read_again() -> None:
    long = " ".join(
        f"The annual dose limit for workers of group {number} is 20 mSv." for number in range(100)
    )
    sources = [passage(name, long) for name in ("one", "two", "three")]

    async def unrelated() -> object:
        return conflicts("Which coil is used for the wrist?", sources)

    entered, found = await counted(unrelated)
    assert found == ()
    assert entered <= UNRELATED, entered


async def test_sentences_that_were_compared_before_are_not_taken_apart_again() -> None:
    sources = [passage("old", "The annual dose limit for workers is 50 mSv."), passage("workers", WORKERS)]

    async def compared() -> object:
        return conflicts("What is the annual dose limit for workers?", sources)

    entered, found = await counted(compared)
    assert len(found) == 1
    assert entered <= COMPARED, entered


async def test_of_a_quote_word_for_word_only_the_quote_is_looked_for() -> None:
    checker = Checker([passage("workers", WORKERS)])

    async def checked() -> Checked:
        return checker.check("- “The annual dose limit for workers is 20 mSv.” [1]")

    entered, found = await counted(checked)
    assert found.verified
    assert entered <= QUOTED, entered


async def test_a_search_enters_few_functions(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.publish(
            made("dose", "The dose limit is 20 mSv. It is a mean."), made("lens", "The lens has a limit.")
        )
        entered, found = await counted(lambda: here.search("dose limit of the lens"))
    assert len(found.parents) == 2
    assert entered <= SEARCH, entered


async def test_a_longer_answer_costs_no_more_per_token() -> None:
    said = re.findall(r"\S+\s", "- “The annual dose limit for workers is 20 mSv.” [1]\n")

    async def answered(lines: int) -> float:
        words = said * lines
        pipeline = replace(PIPELINE, generate=telemetry.traced("generate", saying(*words)))

        async def answer() -> list[object]:
            return [event async for event in pipeline.answer(question())]

        entered, events = await counted(answer)
        assert len(events) > lines
        return entered / len(words)

    short, long = await answered(20), await answered(80)
    assert long <= short * 1.05
    assert short <= TOKEN, short
