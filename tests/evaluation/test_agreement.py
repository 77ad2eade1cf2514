"""Agreement against R's irrCAC on published tables, and against Python's on random ones."""

import csv
import json
from pathlib import Path

import pytest

from evaluation.agreement import Agreement, agreement, from_counts, from_table, interpretation

SHARED = Path(__file__).parents[3] / "shared" / "data" / "agreement"
RANDOM = json.loads(Path(__file__).with_name("irrcac.json").read_text())
KINDS = {
    "gwet": "gwet", "fleiss": "fleiss", "krippen": "krippendorff", "conger": "conger",
    "bp": "brennan_prediger", "pa": "percent", "cohen": "conger", "scott": "fleiss",
}  # fmt: skip


def published() -> list[dict[str, object]]:
    path = SHARED / "expected.json"
    return json.loads(path.read_text()) if path.exists() else []


def read(name: object) -> list[list[int | None]]:
    with (SHARED / "raw" / f"R_{name}.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    return [[None if value == "NA" else int(value) for value in row] for row in rows]


def measured(case: dict[str, object]) -> Agreement:
    table, weights, kind = read(case["dataset"]), str(case["weights"]), KINDS[str(case["method"])]
    if case["form"] == "raw":
        return agreement(table, [1, 2, 3, 4, 5], weights, kind)
    counts = [[value or 0 for value in row] for row in table]
    return (from_counts if case["form"] == "dist" else from_table)(counts, weights, kind)


@pytest.mark.shared
def test_the_published_tables_give_what_r_prints() -> None:
    cases = published()
    if not cases:
        pytest.skip("../shared/data/agreement is not there")
    for case in cases:
        named = f"{case['dataset']} {case['method']} {case['weights']}"
        found = measured(case)
        assert found.value == pytest.approx(case.get("coeff.val", case.get("coeff")), abs=5e-5), named
        if (case["form"], case["method"]) == ("dist", "krippen"):
            continue  # R's two functions disagree here on the standard error; ours is that for ratings
        assert found.error == pytest.approx(case.get("coeff.se", case.get("stderr")), abs=5e-5), named
        low, high = str(case.get("conf.int", case.get("coeff.ci"))).strip("()").split(",")
        assert found.low == pytest.approx(float(low), abs=6e-4), named
        assert found.high == pytest.approx(float(high), abs=6e-4), named


@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_random_tables_give_what_irrcac_makes_of_them(number: int) -> None:
    """Ties, missing ratings, unused categories; value, error, interval and word."""
    case = RANDOM[number]
    for kind, (value, error, low, high, word) in case["expected"].items():
        found = agreement(case["ratings"], [1, 2, 3, 4, 5], case["weights"], kind)
        assert (found.value, found.error) == pytest.approx((value, error), abs=1e-8), kind
        assert (found.low, found.high) == pytest.approx((max(-1.0, low), high), abs=1e-8), kind
        assert found.level == word.lower(), kind


def test_raters_who_always_say_the_same_agree_wholly() -> None:
    found = agreement([[5, 5, 5]] * 6, [1, 2, 3, 4, 5], "quadratic")
    assert (found.value, found.error, found.low, found.high) == pytest.approx((1, 0, 1, 1))
    assert found.level == "almost perfect"


def test_one_rater_who_uses_one_category_leaves_the_coefficient_defined() -> None:
    rows = [[1, 1], [1, 2], [1, 3], [1, 1], [1, 2]]
    assert -1 <= agreement(rows, [1, 2, 3], "quadratic").value < 1


def test_coin_tosses_agree_no_more_than_chance() -> None:
    found = agreement([[a, b] for a in (0, 1) for b in (0, 1)] * 50, [0, 1])
    assert found.value == pytest.approx(0)
    assert found.level == "poor"


@pytest.mark.parametrize(
    ("ratings", "scale", "weights", "kind", "message"),
    [
        ([[1, 9], [1, 1]], [1, 2], "unweighted", "gwet", "subject 1: the rating 9 is not one of"),
        ([[1, 1], [1, 1]], [1], "unweighted", "gwet", "two categories at least"),
        ([[1, 1], [1, 1]], [1, 2], "cubic", "gwet", "'cubic' are none of"),
        ([[1, 1], [1, 1]], [1, 2], "linear", "pearson", "'pearson' is none of"),
        ([[1, None], [None, 2]], [1, 2], "linear", "gwet", "one with two ratings"),
        ([[1, 1]], [1, 2], "linear", "gwet", "two rated subjects"),
    ],
)
def test_what_cannot_be_measured_is_named(
    ratings: list[list[int | None]], scale: list[float], weights: str, kind: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        agreement(ratings, scale, weights, kind)


def test_counts_do_not_say_who_said_what() -> None:
    with pytest.raises(ValueError, match="which rater"):
        from_counts([[1, 1], [2, 0]], kind="conger")


def test_a_wide_interval_earns_a_weaker_word() -> None:
    assert interpretation(0.85, 0.01) == "almost perfect"
    assert interpretation(0.85, 0.1) == "substantial"
    assert interpretation(0.1, 0.5) == "poor"
