"""Fail-closed review of a batch: what was decided against stays out, whoever brings it again."""

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act, State
from ingest.review import Desk
from tests.ingest.versions import DAY, document, published, taken


@pytest.fixture
async def catalogue(tmp_path: Path) -> AsyncIterator[Catalogue]:
    one = await Catalogue.opened(f"sqlite:///{tmp_path}/catalogue.db")
    yield one
    await one.close()


async def test_without_an_approval_a_version_waits_and_with_one_it_goes_on(catalogue: Catalogue) -> None:
    waits = await Desk(catalogue, "uploader").review(document("a", "Text."), [])
    assert (waits.entry.state, waits.approvers, waits.withheld) == (State.IN_REVIEW, "", "")
    goes = await Desk(catalogue, "anna", approves=True).review(document("a", "Text."), [])
    assert (goes.entry.state, goes.approvers) == (State.APPROVED, "anna")


async def test_a_batch_counts_as_one_persons_approval(catalogue: Catalogue) -> None:
    for subject, approvers in (("anna", ""), ("anna", ""), ("boris", "anna, boris")):
        verdict = await Desk(catalogue, subject, approves=True, needed=2).review(document("a", "Text."), [])
        assert verdict.approvers == approvers


@pytest.mark.parametrize("act", [Act.REJECT, Act.RETIRE, Act.EXPIRE])
async def test_what_was_decided_against_is_withheld_even_from_who_approves(
    catalogue: Catalogue, act: Act
) -> None:
    one = document("a", "Text.", valid_from=date(2026, 1, 1))
    if act is Act.REJECT:
        entry = await taken(catalogue, one)
        await catalogue.reject("a", entry.version, "expert", "wrong")
    else:
        entry = await published(catalogue, one)
        day = None if act is Act.RETIRE else DAY
        intent = Intent(Act.RETIRE if act is Act.RETIRE else Act.END, "a", "", "curator", "", day)
        await catalogue.begin_retiring(intent)
        await catalogue.finish_retiring(intent, DAY)
    verdict = await Desk(catalogue, "anna", approves=True).review(one, [])
    assert verdict.approvers == ""
    assert f"radrag kb retry a --version {entry.version}" in verdict.withheld


async def test_a_rejected_version_says_nothing_of_the_next_one(catalogue: Catalogue) -> None:
    entry = await taken(catalogue, document("a", "Wrong."))
    await catalogue.reject("a", entry.version, "expert", "wrong")
    verdict = await Desk(catalogue, "anna", approves=True).review(document("a", "Right."), [])
    assert verdict.approvers == "anna"
