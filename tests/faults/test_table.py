"""The matrix names tests that are there, and enough of them."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.__main__ import Result, ran
from tests.faults.table import FAULTS, Fault

TESTS = Path(__file__).parents[1]
RULES = TESTS.parent / "deploy" / "observability" / "rules" / "radrag.rules.yaml"
ALERTS = set(re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8")))


def test_there_are_enough_and_none_twice() -> None:
    assert len(FAULTS) >= 25
    assert len({fault.what for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.what)
def test_a_fault_has_its_test(fault: Fault) -> None:
    file, _, name = fault.test.partition("::")
    text = (TESTS / file).read_text(encoding="utf-8")
    assert f"def {name}(" in text
    body = text.partition(f"def {name}(")[2].partition("\nasync def ")[0]
    assert ('record_property("recovered"' in body) == (fault.most is not None), "seconds are measured ones"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.what)
def test_an_alert_is_one_of_the_rules(fault: Fault) -> None:
    assert not fault.alert or fault.alert in ALERTS


def test_a_fault_is_met_when_its_test_passed_and_all_was_well_in_time() -> None:
    slow = Fault("", "", "", "", "4 s", "x::y")
    assert Result(back=3.9).met(slow)
    assert not Result(back=4.1).met(slow)
    assert not Result().met(slow)
    assert not Result(passed=False, back=1.0).met(slow)
    assert Result().met(replace(slow, back="next call"))


def test_it_notes_a_time(record_property: Callable[[str, object], None]) -> None:
    record_property("recovered", 1.5)


def test_the_time_that_a_test_notes_is_read_from_its_own_run() -> None:
    found = ran(["tests/faults/test_table.py::test_it_notes_a_time"])
    (result,) = found.values()
    assert (result.passed, result.back) == (True, 1.5)
