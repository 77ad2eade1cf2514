"""Categories are read out of both languages, however they are typed, and must agree."""

import pytest

from gateway.bindings import bound, changed_places, changed_ranges, ranges
from gateway.categories import Categories, categories
from gateway.words import denied, negations

NONE = categories("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BI-RADS 4A and 4B", {("BIRADS", "4A"), ("BIRADS", "4B")}),
        ("категории BI-RADS 4А", {("BIRADS", "4A")}),
        ("ВI-RАDS 4В", {("BIRADS", "4B")}),
        ("BI-RADS category 3", {("BIRADS", "3"), ("CATEGORY", "3")}),
        ("LR-5, LR-M", {("LIRADS", "5"), ("LIRADS", "M")}),
        ("LI-RADS LR-TIV", {("LIRADS", "TIV")}),
        ("TR3", {("TIRADS", "3")}),
        ("EU-TIRADS 4", {("TIRADS", "4")}),
        ("Lung-RADS 4X", {("LUNGRADS", "4X")}),
        ("PI-RADS 2–3", {("PIRADS", "2"), ("PIRADS", "3")}),
        ("киста Босняк III", {("BOSNIAK", "III"), ("", "III")}),
        ("Bosniak IIF", {("BOSNIAK", "IIF"), ("", "IIF")}),
        ("тип В", {("TYPE", "B")}),
        ("зоны III и IV", {("ZONE", "III"), ("ZONE", "IV"), ("", "III"), ("", "IV")}),
        ("category B workers", {("CATEGORY", "B")}),
        ("a nodule of 4 mm", set()),
    ],
)
def test_categories_are_read(text: str, expected: set[tuple[str, str]]) -> None:
    assert categories(text).named == expected


@pytest.mark.parametrize("text", ["Fleischner 2017", "рекомендации Флейшнеровского общества"])
def test_a_system_may_be_named_without_a_value(text: str) -> None:
    assert categories(text).systems == {"FLEISCHNER"}


@pytest.mark.parametrize(
    ("claim", "source", "above", "agrees"),
    [
        ("BI-RADS 4A", "BI-RADS 4A lesions", "", True),
        ("BI-RADS 4A", "BI-RADS 4B lesions", "", False),
        ("BI-RADS 3", "TI-RADS 3", "", False),
        ("BI-RADS 4A", "Lesions 4A need a biopsy", "BI-RADS", True),
        ("BI-RADS 4A", "Lesions 4B need a biopsy", "BI-RADS", False),
        ("BI-RADS 4A", "| 4A | biopsy |", "| BI-RADS | what |", True),
        ("Zone II", "Zone III", "", False),
        ("a lesion", "BI-RADS 4A lesions", "", True),
    ],
)
def test_a_claims_categories_must_stand_in_the_source(
    claim: str, source: str, above: str, agrees: bool
) -> None:
    assert categories(claim).said_by(categories(source), categories(above)) == agrees


def test_two_readings_join() -> None:
    assert NONE | categories("BI-RADS 3") == categories("BI-RADS 3")
    assert isinstance(NONE, Categories)


DUCT = "The duct is up to 6 mm in adults and up to 8 mm after surgery."


@pytest.mark.parametrize(
    ("claim", "moved"),
    [
        (DUCT, False),
        ("The duct is up to 8 mm in adults and up to 6 mm after surgery.", True),
        ("After surgery the duct is up to 8 mm, in adults up to 6 mm.", False),
        ("After surgery the duct is up to 8 mm.", False),
        ("In adults the duct is up to 8 mm.", True),
    ],
)
def test_values_that_changed_places_are_seen(claim: str, moved: bool) -> None:
    assert changed_places(bound(claim), bound(DUCT)) == moved


@pytest.mark.parametrize(
    ("claim", "source", "changed"),
    [
        ("10–7 суток", "7–10 суток", True),
        ("7–10 суток", "7–10 суток", False),
        ("from 7 to 10 days", "7–10 days", False),
        ("7–12 days, 10 mm", "7–10 days, 12 mm", True),
        ("5–6 mm", "between 5 and 6 mm", False),
    ],
)
def test_a_range_keeps_its_ends(claim: str, source: str, changed: bool) -> None:
    assert changed_ranges(ranges(claim), ranges(source)) == changed


@pytest.mark.parametrize(
    "text", ["Не вводят.", "НЕ вводят.", "не вводят.", "Нельзя вводить.", "Don't inject."]
)
def test_a_denial_counts_in_any_case(text: str) -> None:
    assert negations(text) == 1


def test_a_denial_goes_with_the_words_next_to_it() -> None:
    assert denied("A biopsy is not needed without delay.") == [
        frozenset({"biopsy", "needed", "delay"}), frozenset({"delay"}),
    ]  # fmt: skip
    assert denied("Биопсия нужна без промедления.") == [frozenset({"промедления"})]
