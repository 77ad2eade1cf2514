"""Whatever way catalogue and index came to differ, reconcile names it and repairs it."""

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from ingest.catalogue.entry import Entry
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act, State
from ingest.reconcile import compare, repair
from ingest.work import publish
from radrag.errors import FailedPrecondition
from tests.ingest.knowledge import Knowledge, knowledge
from tests.retrieval.making import made
from tests.retrieval.running import publish as index

TEXT = "# Lens\n\nThe lens dose limit is twenty millisieverts a year."


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Knowledge]:
    async with knowledge(tmp_path) as one:
        yield one


async def repaired(base: Knowledge) -> list[str]:
    """What differed; nothing does afterwards, but what cannot be repaired."""

    async def again(entry: Entry) -> None:
        await publish(entry, base.catalogue, base.parts)

    found = await compare(base.curation)
    done = await repair(found, base.curation, again)
    assert [one for one in found if one not in done] == await compare(base.curation)
    return [one.kind for one in found]


async def test_what_nobody_approved_is_taken_out_of_the_index(base: Knowledge) -> None:
    await index(base.retrieval, made("smuggled", "Never seen by anybody."))
    await base.submit("lens", TEXT)
    assert await base.found("seen by anybody") != []
    assert await repaired(base) == ["unapproved"]
    assert await base.found("seen by anybody") == []


async def test_a_lost_publication_is_published_again_from_the_catalogues_text(base: Knowledge) -> None:
    version = await base.all_the_way("lens", TEXT)
    await base.curation.indexed.remove("lens", version)
    assert await repaired(base) == ["missing"]
    assert await base.found("lens dose limit") == [version]


async def test_a_last_day_that_the_index_does_not_know_is_told_it(base: Knowledge) -> None:
    version = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    await base.curation.indexed.end("lens", version, date(2030, 1, 1))
    intent = Intent(Act.END, "lens", "", "curator", "", date(2027, 1, 1))
    await base.catalogue.begin_retiring(intent)
    await base.catalogue.finish_retiring(intent, base.days[0])
    assert await repaired(base) == ["other_day"]
    assert await base.found("lens dose limit", date(2027, 1, 1)) == []


async def test_a_replaced_version_that_came_back_makes_way_again(base: Knowledge) -> None:
    old = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    old_entry = await base.catalogue.find("lens")
    new = await base.all_the_way("lens", TEXT.replace("twenty", "fifteen"), valid_from="2026-11-01")
    parts = base.parts
    document = await base.catalogue.document(old_entry.number)
    parents = await parts.pipeline.chunk(document)
    await parts.index.publish(document, parents, await parts.pipeline.embed(document, parents), "x")
    assert await base.found("lens dose limit") == [old]
    assert set(await repaired(base)) == {"not_live", "other_day"}
    assert await base.found("lens dose limit") == [new]


async def test_a_history_that_is_lost_is_named_and_left(base: Knowledge) -> None:
    old = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    await base.all_the_way("lens", TEXT.replace("twenty", "fifteen"), valid_from="2026-11-01")
    await base.curation.indexed.remove("lens", old)
    assert await repaired(base) == ["lost_history"]


@pytest.mark.parametrize("act", [Act.DELETE, Act.RETIRE])
@pytest.mark.parametrize("told", [False, True])
async def test_a_withdrawal_that_was_begun_is_finished(base: Knowledge, act: Act, told: bool) -> None:
    await base.all_the_way("lens", TEXT)
    intent = Intent(act, "lens", "", "curator", "withdrawn")
    await (base.catalogue.begin_deleting if act is Act.DELETE else base.catalogue.begin_retiring)(intent)
    if told:
        await base.curation.indexed.remove("lens")
    assert await repaired(base) == ["unfinished"]
    assert await base.found("lens dose limit") == []
    left = await base.catalogue.of("lens")
    assert [one.state for one in left] == ([] if act is Act.DELETE else [State.RETIRED])


async def test_a_document_deleted_while_it_is_published_ends_up_deleted(base: Knowledge) -> None:
    version = await base.submit("lens", TEXT)
    await base.review("lens", version)
    entry = await base.catalogue.find("lens")
    send = base.parts.index.publish

    async def interrupted(*given: object) -> object:
        done = await send(*given)  # type: ignore[arg-type]
        intent = Intent(Act.DELETE, "lens", "", "curator")
        await base.catalogue.begin_deleting(intent)
        await base.catalogue.finish_deleting(intent)
        return done

    base.parts.index.publish = interrupted  # type: ignore[method-assign, assignment]
    with pytest.raises(Exception, match="deleted"):
        await publish(entry, base.catalogue, base.parts)
    assert await base.found("lens dose limit") == []
    assert await compare(base.curation) == []


async def test_nothing_is_published_by_repair_that_is_not_approved(base: Knowledge) -> None:
    await base.submit("lens", TEXT)
    with pytest.raises(FailedPrecondition, match="in_review"):
        await publish(await base.catalogue.find("lens"), base.catalogue, base.parts)
    assert base.models.asked == 1
    assert await base.curation.indexed.all() == []
