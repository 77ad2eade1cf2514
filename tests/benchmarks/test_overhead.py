"""What the comparison of watched and unwatched answers makes of its figures."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks import overhead
from benchmarks.lost import Run, judged, summary

MEDIAN = "NOT KEPT: the median of the CPU time lost is 4.00%, more than 3%"
BOUND = "NOT KEPT: the lower bound of the CPU time lost is 3.50%, more than 3%"


def lost(median: float, low: float) -> Mapping[str, Mapping[str, float]]:
    return {"measured": {"lost_by_cpu": median, "lost_by_cpu_low": low, "lost_by_cpu_high": 0.5}}


@pytest.mark.parametrize(
    ("median", "low", "said"),
    [
        (0.03, 0.03, []),
        (-0.01, -0.02, []),
        (0.04, -0.002, [MEDIAN]),  # a wide interval excuses nothing
        (0.03, 0.035, [BOUND]),
        (0.04, 0.035, [MEDIAN, BOUND]),
    ],
)
def test_more_than_three_percent_is_not_kept(median: float, low: float, said: list[str]) -> None:
    assert judged(lost(median, low)) == said


def test_with_a_tenth_of_the_traces_nothing_is_judged() -> None:
    assert judged({"sampled": lost(0.5, 0.4)["measured"]}) == []


def test_the_judged_figures_are_those_of_the_summary() -> None:
    pairs = [(Run(10, {"gateway": 90}), Run(9, {"gateway": 100}))] * 3
    lines = judged({"measured": summary("measured", pairs)})
    assert len(lines) == 2
    assert all("is 10.00%" in line for line in lines)


def test_a_run_that_misses_the_aim_is_recorded_and_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def measured(home: Path, given: Namespace) -> Mapping[str, Mapping[str, float]]:
        return lost(0.04, 0.0)

    monkeypatch.setattr(overhead, "measured", measured)
    monkeypatch.setattr(overhead, "RESULT", tmp_path / "result.json")
    monkeypatch.setattr(sys, "argv", ["overhead"])
    with pytest.raises(SystemExit) as ended:
        overhead.main()
    assert ended.value.code == MEDIAN
    assert "0.04" in (tmp_path / "result.json").read_text()
