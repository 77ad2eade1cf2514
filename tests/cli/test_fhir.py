"""The FHIR note's example is a Communication as R4B defines it, with its sources as DocumentReferences."""

import json
import re
import warnings
from typing import Any

import pytest

from cli.places import ROOT

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its classes name fields that pydantic has, too
    from fhir.resources.R4B.communication import Communication
    from fhir.resources.R4B.documentreference import DocumentReference

PAGE = (ROOT / "docs/fhir.md").read_text(encoding="utf-8")


@pytest.fixture
def example() -> Any:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    return json.loads(block)


def test_the_example_is_valid_and_nothing_of_it_is_lost(example: Any) -> None:
    read = Communication.model_validate(example)
    assert json.loads(read.model_dump_json()) == example
    (source,) = read.contained or []
    assert isinstance(source, DocumentReference)
    assert f"#{source.id}" in {
        one.contentReference.reference for one in read.payload or [] if one.contentReference
    }


def test_the_page_names_the_release_that_is_checked() -> None:
    assert set(re.findall(r"\bR\d\w*", PAGE)) == {"R4B"}


@pytest.mark.parametrize(
    "fault",
    [
        lambda one: one.pop("status"),
        lambda one: one.update(state="completed"),
        lambda one: one["contained"][0].pop("content"),
        lambda one: one["contained"][0]["context"]["period"].update(start="yesterday"),
        lambda one: one["payload"][0].pop("contentString"),
    ],
    ids=["a required field", "an unknown field", "a source without content", "a date", "an empty payload"],
)
def test_the_validator_sees_faults(example: Any, fault: Any) -> None:
    fault(example)
    with pytest.raises(ValueError):
        Communication.model_validate(example)
