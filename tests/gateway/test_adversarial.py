"""Answers that try to pass as supported, from the table that `radrag eval adversarial` reads too."""

from collections import Counter

import pytest

from cli.evaluate_adversarial import SUITES, seen
from evaluation import adversarial

LOADED = {path.stem: adversarial.load(path) for path in SUITES}
CASES = LOADED["adversarial"]
MEASURED = {name: adversarial.rates(cases, seen) for name, cases in LOADED.items()}
RATES = [(name, rate) for name, (rates, _) in MEASURED.items() for rate in rates]
# What a checker of words cannot tell counts as unsupported, and refusals are worded in ever new ways.
LEAST = {adversarial.TRUE: 0.8, adversarial.REFUSAL: 0.8}


def test_there_are_enough_cases_in_both_languages() -> None:
    languages = Counter(case.language for case in CASES if not case.passes)
    assert sum(languages.values()) >= 120
    assert min(languages["en"], languages["ru"]) >= 60
    assert len({(case.sources, case.answer) for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("suite", "rate"), RATES, ids=lambda given: getattr(given, "kind", given))
def test_of_every_kind_nineteen_of_twenty_go_as_they_must(suite: str, rate: adversarial.Rate) -> None:
    wrong = [case.answer for case in MEASURED[suite][1] if case.kind == rate.kind]
    assert rate.share >= LEAST.get(rate.kind, 0.95), wrong


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
