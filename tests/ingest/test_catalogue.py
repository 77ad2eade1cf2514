"""The catalogue on SQLite and PostgreSQL: versions, approvals, days in force, deletion, and what is kept."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.engine import Connection

from ingest.catalogue import tables
from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act, State
from radrag.errors import FailedPrecondition, InvalidArgument, NotFound, PermissionDenied, Unavailable
from tests.ingest.versions import DAY, approved, document, published, taken

WORDS = " ".join(f"word{n}" for n in range(200))
LATER = date(2027, 3, 1)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/catalogue.db"
    server: str = request.getfixturevalue("postgres")
    name = f"t{uuid.uuid4().hex}"
    engine = sql.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sql.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture
async def catalogue(url: str) -> AsyncIterator[Catalogue]:
    opened = await Catalogue.opened(url)
    yield opened
    await opened.close()


async def acts(catalogue: Catalogue, document_id: str) -> list[str]:
    return [event.act.value for event in (await catalogue.show(document_id)).history]


async def test_a_version_is_taken_in_once_into_review_with_its_texts(catalogue: Catalogue) -> None:
    one = document("a", "# A\n\nПредел 20 мЗв. 🩻")
    first, again = await taken(catalogue, one), await taken(catalogue, one, "somebody else")
    assert (first, first.state, first.version) == (again, State.IN_REVIEW, one.version)
    found = await catalogue.show("a")
    assert (found.document.text, found.document.raw) == (one.text, one.raw)
    assert [(e.act, e.subject) for e in found.history] == [(Act.PARSE, "uploader"), (Act.SUBMIT, "uploader")]
    assert [(c.level, c.start, c.end) for c in found.chunks] == [
        ("parent", 0, len(one.text)),
        ("child", 0, len(one.text)),
    ]


async def test_the_text_of_another_document_is_refused_and_that_one_named(catalogue: Catalogue) -> None:
    entry = await taken(catalogue, document("a", WORDS))
    await catalogue.reject("a", entry.version, "expert", "wrong")
    with pytest.raises(InvalidArgument, match=f"'a', version {entry.version}, which is rejected"):
        await taken(catalogue, document("b", WORDS))
    with pytest.raises(NotFound):
        await catalogue.find("b")


async def test_nearly_the_same_text_and_the_same_source_are_flagged(catalogue: Catalogue) -> None:
    await taken(catalogue, document("a", WORDS, source_uri="https://x.example/a"))
    near = await taken(catalogue, document("b", WORDS + " and more", source_uri="https://x.example/a"))
    far = await taken(catalogue, document("c", "Something else altogether, in other words than those."))
    assert (near.flags, far.flags) == (("near_duplicate", "same_source"), ())
    (shown,) = (await catalogue.show("b")).near
    assert (shown.document_id, shown.likeness > 0.9) == ("a", True)


async def test_a_document_mostly_of_pictures_is_flagged(catalogue: Catalogue) -> None:
    from dataclasses import replace

    for share, flags in ((0.7, ()), (0.71, ("mostly_pictures",))):
        entry = await taken(catalogue, replace(document(f"d{share}", f"Text {share}"), pictures=share))
        assert entry.flags == flags


async def test_a_new_version_is_linked_to_the_old_one_and_replaces_it_when_published(
    catalogue: Catalogue,
) -> None:
    old = await published(catalogue, document("a", "Old.", valid_from=date(2026, 1, 1)))
    new = await taken(catalogue, document("a", "New.", valid_from=DAY))
    before = await catalogue.before(new)
    assert (new.previous, before and before.text) == (old.number, "Old.\n")
    assert (await catalogue.numbered(old.number)).state is State.PUBLISHED
    await published(catalogue, document("a", "New.", valid_from=DAY))
    ended = await catalogue.numbered(old.number)
    assert (ended.state, ended.last_day) == (State.SUPERSEDED, DAY)


async def test_other_metadata_is_reviewed_anew_while_the_old_stays_published(catalogue: Catalogue) -> None:
    old = await published(catalogue, document("a", "Text."))
    new = await taken(catalogue, document("a", "Text.", access_labels=("staff",)))
    assert (new.version, new.state) == (old.version, State.IN_REVIEW)
    assert (await catalogue.numbered(old.number)).state is State.PUBLISHED
    assert await catalogue.published(document("a", "Text.")) is not None
    assert await catalogue.published(document("a", "Text.", access_labels=("staff",))) is None


async def test_two_different_people_must_approve_when_two_are_needed(catalogue: Catalogue) -> None:
    entry = await taken(catalogue, document("a", "Text."))
    named = ("a", entry.version)
    assert (await catalogue.approve(*named, "anna", "", 2)).state is State.IN_REVIEW
    with pytest.raises(PermissionDenied, match="another person"):
        await catalogue.approve(*named, "anna", "", 2)
    done = await catalogue.approve(*named, "boris", "", 2)
    assert (done.state, done.approved_by) == (State.APPROVED, "anna, boris")


async def test_an_approval_by_one_is_not_enough_once_the_rule_says_two(catalogue: Catalogue) -> None:
    entry = await approved(catalogue, document("a", "Text."))
    with pytest.raises(FailedPrecondition, match="2 different people"):
        await catalogue.begin_publishing(entry.number, "expert", 2, DAY)
    assert (await catalogue.numbered(entry.number)).state is State.APPROVED


async def test_two_reviewers_at_once_are_both_counted(catalogue: Catalogue, url: str) -> None:
    entry = await taken(catalogue, document("a", "Text."))
    other = await Catalogue.opened(url)
    both = [
        one.approve("a", entry.version, who, "", 2) for one, who in ((catalogue, "anna"), (other, "boris"))
    ]
    states = {done.state for done in await asyncio.gather(*both)}
    await other.close()
    assert states == {State.IN_REVIEW, State.APPROVED}


async def test_only_what_is_approved_is_published(catalogue: Catalogue) -> None:
    entry = await taken(catalogue, document("a", "Text."))
    with pytest.raises(FailedPrecondition, match="cannot publish a version that is in_review"):
        await catalogue.begin_publishing(entry.number, "expert", 1, DAY)
    with pytest.raises(InvalidArgument, match="reason"):
        await catalogue.reject("a", entry.version, "expert", " ")
    await catalogue.reject("a", entry.version, "expert", "outdated")
    with pytest.raises(FailedPrecondition, match="rejected"):
        await catalogue.begin_publishing(entry.number, "expert", 1, DAY)
    with pytest.raises(FailedPrecondition, match="rejected"):
        await catalogue.approve("a", entry.version, "expert", "", 1)


async def test_an_approval_taken_back_on_the_way_stops_a_publication(catalogue: Catalogue) -> None:
    entry = await approved(catalogue, document("a", "Text."))
    await catalogue.begin_publishing(entry.number, "expert", 1, DAY)
    await catalogue.reject("a", entry.version, "other", "a mistake on page 2")
    with pytest.raises(FailedPrecondition):
        await catalogue.finish_publishing(entry.number, "expert", DAY)
    assert await catalogue.gone(entry.number)


async def test_a_first_day_once_told_stays_and_a_last_day_in_the_past_is_refused(
    catalogue: Catalogue,
) -> None:
    entry = await published(catalogue, document("a", "Text."))
    assert entry.first_day == DAY
    term = await catalogue.begin_publishing(entry.number, "expert", 1, LATER)
    assert term.first_day == DAY
    past = await approved(catalogue, document("b", "Past.", valid_to=date(2025, 1, 1)))
    with pytest.raises(InvalidArgument, match="valid_to"):
        await catalogue.begin_publishing(past.number, "expert", 1, DAY)


async def test_a_version_ends_on_its_day_and_expires_then(catalogue: Catalogue) -> None:
    entry = await published(catalogue, document("a", "Text."))
    intent = Intent(Act.END, "a", "", "curator", "replaced by law", LATER)
    assert await catalogue.begin_retiring(intent) == [entry.version]
    await catalogue.finish_retiring(intent, DAY)
    assert ((found := await catalogue.find("a")).state, found.last_day) == (State.PUBLISHED, LATER)
    assert await catalogue.expire_due(DAY) == 0
    assert await catalogue.expire_due(LATER) == 1
    assert (await catalogue.find("a")).state is State.EXPIRED
    with pytest.raises(InvalidArgument, match="valid_to"):
        await catalogue.begin_retiring(Intent(Act.END, "a", "", "curator", "", DAY))


async def test_retiring_takes_every_version_that_was_published_or_only_the_one_named(
    catalogue: Catalogue,
) -> None:
    old = await published(catalogue, document("a", "Old."))
    new = await published(catalogue, document("a", "New.", valid_from=LATER))
    for version, states in ((old.version, ["published", "retired"]), ("", ["retired", "retired"])):
        intent = Intent(Act.RETIRE, "a", version, "curator", "withdrawn")
        await catalogue.begin_retiring(intent)
        await catalogue.finish_retiring(intent, DAY)
        assert [one.state.value for one in await catalogue.of("a")] == states
    assert await catalogue.begun() == []
    with pytest.raises(FailedPrecondition, match="was published"):
        await catalogue.begin_retiring(Intent(Act.RETIRE, "a", new.version, "curator"))


async def test_what_is_being_withdrawn_is_not_published_beside_it(catalogue: Catalogue) -> None:
    entry = await approved(catalogue, document("a", "Text."))
    await catalogue.begin_deleting(Intent(Act.DELETE, "a", "", "curator"))
    with pytest.raises(FailedPrecondition, match="delete has begun"):
        await catalogue.begin_publishing(entry.number, "expert", 1, DAY)


async def test_a_deleted_document_leaves_its_history_and_nothing_else(catalogue: Catalogue) -> None:
    await published(catalogue, document("a", "First."))
    await taken(catalogue, document("a", "Second."))
    await taken(catalogue, document("b", "Other."))
    intent = Intent(Act.DELETE, "a", "", "curator", "by court order")
    await catalogue.begin_deleting(intent)
    assert len(await catalogue.finish_deleting(intent)) == 2
    with pytest.raises(NotFound):
        await catalogue.show("a")
    with pytest.raises(NotFound):
        await catalogue.begin_deleting(intent)

    def left(connection: Connection) -> dict[str, int]:
        counted = (tables.versions, tables.texts, tables.chunks, tables.bands, tables.intents)
        return {
            table.name: connection.scalar(sql.select(sql.func.count()).select_from(table)) or 0
            for table in counted
        }

    assert await catalogue.data.read(left) == {
        "versions": 1, "texts": 1, "chunks": 2, "bands": 32, "intents": 0,
    }  # fmt: skip
    events = await catalogue.data.read(
        lambda c: c.execute(sql.select(tables.history).where(tables.history.c.document_id == "a")).all()
    )
    assert [(e.act, e.reason) for e in events[-2:]] == [("delete", "by court order")] * 2


@pytest.mark.parametrize("state", [one for one in State if one not in {State.DELETED, State.PARSED}])
async def test_a_version_in_any_state_can_be_retried_and_deleted(catalogue: Catalogue, state: State) -> None:
    await brought_to(catalogue, state)
    assert (await catalogue.find("a")).state is state
    await catalogue.retry("a", "", "curator")
    intent = Intent(Act.DELETE, "a", "", "curator")
    await catalogue.begin_deleting(intent)
    await catalogue.finish_deleting(intent)
    with pytest.raises(NotFound):
        await catalogue.find("a")


async def brought_to(catalogue: Catalogue, state: State) -> None:
    one = document("a", "Text.")
    if state in {State.DISCOVERED, State.FAILED}:
        await catalogue.discover(document("a", ""), "uploader")
        if state is State.FAILED:
            await catalogue.fail(document("a", ""), "uploader", "it is encrypted")
        return
    entry = await taken(catalogue, one)
    if state is State.REJECTED:
        await catalogue.reject("a", entry.version, "expert", "no")
    elif state is State.APPROVED:
        await approved(catalogue, one)
    elif state is not State.IN_REVIEW:
        await published(catalogue, one)
    if state is State.SUPERSEDED:
        newer = await published(catalogue, document("a", "Newer."))
        doomed = Intent(Act.DELETE, "a", newer.version, "curator")
        await catalogue.begin_deleting(doomed)
        await catalogue.finish_deleting(doomed)
    if state in {State.RETIRED, State.EXPIRED}:
        ending = Intent(Act.END if state is State.EXPIRED else Act.RETIRE, "a", "", "c", "", LATER)
        await catalogue.begin_retiring(ending)
        await catalogue.finish_retiring(ending, LATER)


async def test_a_superseded_text_that_comes_again_is_reviewed_again(catalogue: Catalogue) -> None:
    await published(catalogue, document("a", "One."))
    await published(catalogue, document("a", "Two."))
    again = await taken(catalogue, document("a", "One."))
    assert (again.state, again.approved_by, again.first_day) == (State.IN_REVIEW, "", None)


async def test_a_failed_document_goes_on_as_the_version_it_becomes(catalogue: Catalogue) -> None:
    failed = await catalogue.fail(document("a", ""), "uploader", "it is encrypted")
    entry = await taken(catalogue, document("a", "Text."))
    assert (entry.number, entry.state) == (failed.number, State.IN_REVIEW)
    assert await acts(catalogue, "a") == ["retry", "fail", "parse", "submit"]


async def test_texts_and_history_cannot_be_changed(catalogue: Catalogue) -> None:
    await taken(catalogue, document("a", "Text."))
    for change in (
        tables.texts.update().values(text="other"),
        tables.history.update().values(subject="other"),
        tables.history.delete(),
    ):
        with pytest.raises(Unavailable):
            await catalogue.data.write(lambda c, change=change: c.execute(change))  # type: ignore[misc]


async def test_a_list_comes_in_pages_newest_first(catalogue: Catalogue) -> None:
    for n in range(5):
        await taken(catalogue, document(f"d{n}", f"Text {n}.", topic="safety" if n % 2 else "physics"))
    first = await catalogue.page(size=3)
    rest = await catalogue.page(size=3, before=first[-1].number)
    assert [one.document_id for one in [*first, *rest]] == ["d4", "d3", "d2", "d1", "d0"]
    assert [one.document_id for one in await catalogue.page(topics=["safety"])] == ["d3", "d1"]
    assert await catalogue.page(states=[State.PUBLISHED]) == []
    assert (await catalogue.counts())["topic"] == {"physics": 3, "safety": 2}


async def test_the_migrations_make_the_tables_as_the_code_has_them(catalogue: Catalogue) -> None:
    def different(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), tables.metadata))

    assert await catalogue.data.read(different) == []


async def test_many_processes_may_open_a_new_catalogue_at_once(url: str) -> None:
    opened = await asyncio.gather(*(Catalogue.opened(url) for _ in range(4)))
    await asyncio.gather(*(taken(one, document(f"d{n}", f"Text {n}.")) for n, one in enumerate(opened)))
    assert len(await opened[0].page()) == 4
    for one in opened:
        await one.close()


async def test_a_catalogue_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for url in (f"sqlite:///{tmp_path}/file/x.db", "no url"):
        with pytest.raises(Unavailable, match="catalogue"):
            await Catalogue.opened(url)
