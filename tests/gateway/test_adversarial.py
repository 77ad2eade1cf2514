"""Answers that try to pass as supported, from the table that `radrag eval adversarial` reads too."""

from collections import Counter

import pytest

from cli.evaluate_adversarial import seen
from evaluation import adversarial
from gateway.__main__ import ROOT

CASES = adversarial.load(ROOT / "evaluation" / "adversarial.yaml")
RATES, WRONG = adversarial.rates(CASES, seen)


def test_there_are_enough_cases_in_both_languages() -> None:
    languages = Counter(case.language for case in CASES if not case.passes)
    assert sum(languages.values()) >= 120
    assert min(languages["en"], languages["ru"]) >= 60
    assert len({(case.sources, case.answer) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.kind)
def test_of_every_kind_nineteen_of_twenty_go_as_they_must(rate: adversarial.Rate) -> None:
    assert rate.share >= 0.95, [case.answer for case in WRONG if case.kind == rate.kind]


def test_the_verdict_needs_a_caught_answer_to_leave_nothing_verified() -> None:
    bad, good = (next(one for one in CASES if one.passes == passes) for passes in (False, True))
    let_through = adversarial.Seen(True, "", (1,), (True,), False, False)
    flagged = adversarial.Seen(True, "", (1,), (False,), True, False)
    assert not adversarial.is_right(bad, let_through)
    assert adversarial.is_right(bad, flagged)
    true = next(one for one in CASES if one.kind == adversarial.TRUE)
    assert good.passes
    assert adversarial.is_right(true, let_through)
    assert not adversarial.is_right(true, flagged)
