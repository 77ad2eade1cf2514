"""The matrix names tests that are there, and enough of them."""

from pathlib import Path

import pytest

from tests.faults.table import FAULTS, Fault

TESTS = Path(__file__).parents[1]


def test_there_are_enough_and_none_twice() -> None:
    assert len(FAULTS) >= 25
    assert len({fault.what for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.what)
def test_a_fault_has_its_test(fault: Fault) -> None:
    file, _, name = fault.test.partition("::")
    assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
