"""What is asked in one turn of the loop is asked in one go; failures and leavers concern nobody else."""

import asyncio
from collections.abc import Sequence

import pytest

from retrieval.line import Line


class Answers:
    """Doubles numbers; remembers what it was asked together."""

    def __init__(self) -> None:
        self.together: list[list[int]] = []

    async def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.together.append(list(numbers))
        await asyncio.sleep(0)
        if 13 in numbers:
            raise ValueError("unlucky")
        return [2 * number for number in numbers]


async def test_what_is_asked_in_one_turn_is_asked_together_and_answered_in_order() -> None:
    answers = Answers()
    line = Line(answers)
    assert await asyncio.gather(*map(line.ask, (3, 1, 2))) == [6, 2, 4]
    assert await line.ask(5) == 10
    assert answers.together == [[3, 1, 2], [5]]


async def test_a_failure_reaches_all_who_asked_together_and_nobody_after() -> None:
    line = Line(Answers())
    failed = await asyncio.gather(*map(line.ask, (1, 13)), return_exceptions=True)
    assert [str(one) for one in failed] == ["unlucky", "unlucky"]
    assert await line.ask(4) == 8


async def test_who_leaves_takes_nobody_along() -> None:
    answers = Answers()
    line = Line(answers)
    leaving, staying = asyncio.create_task(line.ask(1)), asyncio.create_task(line.ask(2))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 4
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert answers.together == [[2]]
