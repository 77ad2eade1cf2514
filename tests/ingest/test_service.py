"""The curators' service over the wire: from a file handed in to what a search finds, and out again."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from datetime import date, timedelta
from pathlib import Path

import grpc
import pytest
from grpc import aio
from prometheus_client import REGISTRY

from ingest.catalogue import ratings
from ingest.catalogue.catalogue import Catalogue
from ingest.jobs_table import Asked, JobTable
from ingest.reconcile import compare
from ingest.service_uploads import Uploads
from ingest.upkeep import Upkeep
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.knowledge.v1.knowledge_pb2_grpc import KnowledgeServiceStub as Stub
from tests.ingest.knowledge import Knowledge, caller, knowledge, submission

ZERO = "0" * 16
TEXT = "# Lens\n\nThe lens dose limit is twenty millisieverts a year.\n\n## MR\n\nGradients have no dose."
NEWER = TEXT.replace("twenty", "fifteen")


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Knowledge]:
    async with knowledge(tmp_path) as one:
        yield one


async def test_a_document_handed_in_is_read_reviewed_published_and_found(base: Knowledge) -> None:
    version = await base.submit("lens", TEXT, title="Lens", licence="CC0", valid_from="2026-01-01")
    shown = await base.get("lens")
    assert shown.document.state == wire.STATE_IN_REVIEW
    assert (shown.markdown, shown.document.metadata.licence) == (TEXT + "\n", "CC0")
    assert {one.level for one in shown.chunks} == {"parent", "child"}
    assert await base.review("lens", version, "anna", "") == wire.STATE_APPROVED
    assert await base.found("lens dose limit") == []
    last = await base.publish("lens", version)
    assert (last.done, last.progress, last.state) == (True, 1.0, wire.STATE_PUBLISHED)
    assert await base.found("lens dose limit") == [version]
    history = [(one.act, one.subject) for one in (await base.get("lens")).history]
    assert history == [
        ("retry", "uploader"), ("parse", "uploader"), ("submit", "uploader"),
        ("approve", "anna"), ("publish", "expert"),
    ]  # fmt: skip
    assert await compare(base.curation) == []


async def test_a_new_version_shows_what_changed_and_takes_the_old_ones_place(base: Knowledge) -> None:
    old = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    new = await base.submit("lens", NEWER, valid_from="2026-11-01")
    shown = await base.get("lens", new)
    (change,) = shown.changes
    assert (list(change.heading_path), change.kind) == (["Lens"], "changed")
    assert (list(change.removed_lines), list(change.added_lines)) == (
        ["The lens dose limit is twenty millisieverts a year."],
        ["The lens dose limit is fifteen millisieverts a year."],
    )
    assert await base.found("lens dose limit") == [old]
    await base.review("lens", new)
    await base.publish("lens", new)
    assert await base.found("lens dose limit") == [new]
    assert await base.found("lens dose limit", date(2026, 6, 1)) == [old]
    states = [one.state for one in (await base.get("lens")).versions]
    assert states == [wire.STATE_PUBLISHED, wire.STATE_SUPERSEDED]
    assert await compare(base.curation) == []


async def test_two_people_are_needed_when_the_rule_says_so(tmp_path: Path) -> None:
    async with knowledge(tmp_path, needed=2) as base:
        version = await base.submit("lens", TEXT)
        assert await base.review("lens", version, "anna") == wire.STATE_IN_REVIEW
        assert await code(base.review("lens", version, "anna")) is grpc.StatusCode.PERMISSION_DENIED
        refused = base.stub.PublishDocument(wire.PublishDocumentRequest(document_id="lens", version=version))
        assert await code(refused) is grpc.StatusCode.FAILED_PRECONDITION
        assert await base.review("lens", version, "uploader") == wire.STATE_APPROVED
        await base.publish("lens", version)
        (parent,) = (await base.retrieval.GetParents(await parents_of(base, "lens"))).parents[:1]
        assert parent.document.approved_by == "anna, uploader"


async def parents_of(base: Knowledge, document_id: str, version: str = "") -> "object":
    from ingest.passage import passage_id
    from radrag.retrieval.v1 import retrieval_pb2

    shown = await base.get(document_id, version)
    named = [
        passage_id(document_id, shown.document.version, one.level, one.start, one.end) for one in shown.chunks
    ]
    return retrieval_pb2.GetParentsRequest(parent_ids=named)


async def test_what_was_retired_or_not_published_cannot_be_found_by_any_way(base: Knowledge) -> None:
    """By no question, filter, day or id: in review, rejected, approved but unpublished, or retired."""
    published = await base.all_the_way("other", "Nothing about it here, only something else.")
    waiting = await base.submit("waiting", TEXT)
    refused = await base.submit("refused", TEXT.replace("Lens", "Eye"))
    await base.review("refused", refused, reason="wrong number")
    approved = await base.submit("approved", TEXT.replace("Lens", "Skin"))
    await base.review("approved", approved)
    await base.all_the_way("retired", TEXT.replace("Lens", "Hand"))
    await base.stub.RetireDocument(wire.RetireDocumentRequest(document_id="retired", reason="withdrawn"))
    hidden = ["waiting", "refused", "approved", "retired"]
    today = base.days[0]
    for day in (today, today - timedelta(days=10_000), today + timedelta(days=10_000), date(1970, 1, 1)):
        for filters in (
            {},
            {"document_ids": hidden},
            {"topics": ["safety"]},
            {"categories": ["web"]},
            {"languages": ["en"]},
            {"parents": 100, "children": 1000, "children_per_topic": 100},
        ):
            assert set(await base.found("lens dose limit a year", day, **filters)) <= {published}
    for document_id in hidden:
        reply = await base.retrieval.GetParents(await parents_of(base, document_id))
        assert list(reply.parents) == []
    held = await base.curation.indexed.all()
    assert [one.document.version for one in held] == [published]
    assert waiting


async def test_a_document_ended_on_a_day_is_found_before_it_and_expires_on_it(base: Knowledge) -> None:
    version = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    end = wire.RetireDocumentRequest(document_id="lens", valid_to="2027-01-01", reason="new law")
    assert (await base.stub.RetireDocument(end)).state == wire.STATE_PUBLISHED
    assert await base.found("lens dose limit") == [version]
    base.days[0] = date(2027, 1, 1)
    assert await base.found("lens dose limit") == []
    assert await base.found("lens dose limit", date(2026, 12, 31)) == [version]
    assert await compare(base.curation) == []
    assert (await base.get("lens")).document.state == wire.STATE_EXPIRED


async def test_a_retired_document_is_gone_for_every_day_and_can_be_reviewed_again(base: Knowledge) -> None:
    version = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    retire = wire.RetireDocumentRequest(document_id="lens", reason="withdrawn")
    assert (await base.stub.RetireDocument(retire)).state == wire.STATE_RETIRED
    assert await base.found("lens dose limit", date(2026, 6, 1)) == []
    again = await base.stub.RetryDocument(wire.RetryDocumentRequest(document_id="lens", reason="was right"))
    assert (again.state, again.job_id) == (wire.STATE_IN_REVIEW, "")
    assert await base.found("lens dose limit") == []
    await base.review("lens", version)
    await base.publish("lens", version)
    assert await base.found("lens dose limit") == [version]


async def test_deleting_a_version_or_a_document_takes_it_out_of_catalogue_and_index(base: Knowledge) -> None:
    old = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    new = await base.all_the_way("lens", NEWER, valid_from="2026-11-01")
    reply = await base.stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="lens", version=old))
    assert list(reply.versions) == [old]
    assert await base.found("lens dose limit", date(2026, 6, 1)) == []
    assert await base.found("lens dose limit") == [new]
    reply = await base.stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="lens"))
    assert list(reply.versions) == [new]
    assert await base.found("lens dose limit") == []
    assert await code(base.get("lens")) is grpc.StatusCode.NOT_FOUND
    assert await base.curation.indexed.all() == []


async def test_deleting_one_version_leaves_the_document_and_every_chunk_of_its_other_versions(
    base: Knowledge,
) -> None:
    """A version is the least that can be deleted: nothing less has a request."""
    old = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    new = await base.all_the_way("lens", NEWER, valid_from="2026-11-01")
    next_one = await base.submit("lens", NEWER.replace("fifteen", "ten"), valid_from="2027-01-01")
    kept = [await base.get("lens", version) for version in (new, next_one)]
    assert all(one.chunks for one in kept)
    await base.stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="lens", version=old))
    for before in kept:
        after = await base.get("lens", before.document.version)
        assert (list(after.chunks), after.markdown) == (list(before.chunks), before.markdown)
    assert {one.version for one in (await base.get("lens")).versions} == {new, next_one}
    reply = await base.retrieval.GetParents(await parents_of(base, "lens", new))
    assert "".join(one.parent.text for one in reply.parents).strip() == NEWER
    assert {one.name for one in wire.DeleteDocumentRequest.DESCRIPTOR.fields} == {"document_id", "version"}


async def test_a_file_that_cannot_be_read_fails_and_can_be_retried_and_deleted(base: Knowledge) -> None:
    reply = await base.stub.SubmitDocument(submission("cut.pdf", b"%PDF-1.4 and no end"))
    last = await base.watched(reply.job_id)
    assert (last.done, last.state) == (True, wire.STATE_FAILED)
    assert "cut.pdf" in last.error
    shown = await base.get("cut.pdf")
    assert (shown.document.state, shown.history[-1].act) == (wire.STATE_FAILED, "fail")
    again = await base.stub.RetryDocument(wire.RetryDocumentRequest(document_id="cut.pdf"))
    assert (again.state, again.job_id) == (wire.STATE_DISCOVERED, reply.job_id)
    assert (await base.watched(again.job_id)).state == wire.STATE_FAILED
    await base.stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="cut.pdf"))
    assert await code(base.get("cut.pdf")) is grpc.StatusCode.NOT_FOUND


async def test_the_text_of_another_document_is_refused_by_name(base: Knowledge) -> None:
    version = await base.submit("lens", TEXT)
    reply = await base.stub.SubmitDocument(submission("copy.md", TEXT, {"document_id": "copy"}))
    last = await base.watched(reply.job_id)
    assert f"the same text is document 'lens', version {version}" in last.error


async def test_the_same_file_handed_in_twice_is_one_job_and_one_version(base: Knowledge) -> None:
    sent = [base.stub.SubmitDocument(submission("lens.md", TEXT, {"document_id": "lens"})) for _ in range(3)]
    replies = [await one for one in sent]
    assert len({one.job_id for one in replies}) == 1
    assert (await base.watched(replies[0].job_id)).state == wire.STATE_IN_REVIEW
    assert len((await base.get("lens")).versions) == 1


async def test_a_job_waits_for_a_missing_model_and_goes_on(base: Knowledge) -> None:
    version = await base.submit("lens", TEXT)
    await base.review("lens", version)
    base.models.missing = True
    reply = await base.stub.PublishDocument(wire.PublishDocumentRequest(document_id="lens", version=version))
    while not base.models.asked:
        await asyncio.sleep(0.01)
    base.models.missing = False
    assert (await base.watched(reply.job_id)).state == wire.STATE_PUBLISHED


async def test_a_job_whose_owner_died_is_taken_over_and_after_five_tries_it_failed(tmp_path: Path) -> None:
    catalogue = await Catalogue.opened(f"sqlite:///{tmp_path}/catalogue.db")
    dead, alive = (JobTable(catalogue.data, owner) for owner in (f"{socket.gethostname()} 1 1", ""))
    job = await alive.ask(Asked("publish", "x", "", "anna", "1", "", {"number": 1}))
    assert await alive.claim() is not None
    assert await alive.take_over() == 0
    await alive.later(job.job_id, 0, "once more")
    for _ in range(4):
        assert await dead.claim() is not None
        assert await alive.take_over() == 1
    found = await alive.get(job.job_id)
    assert (found.status, found.attempts) == ("failed", 5)
    assert "5 tries" in found.error
    await catalogue.close()


async def test_lists_come_in_pages_whose_token_fits_only_its_own_list(base: Knowledge) -> None:
    for n in range(5):
        await base.submit(f"d{n}", f"# Text {n}", topic="safety" if n % 2 else "physics")
    request = wire.ListDocumentsRequest(page_size=2, states=[wire.STATE_IN_REVIEW])
    seen: list[str] = []
    while True:
        page = await base.stub.ListDocuments(request)
        seen += [one.metadata.document_id for one in page.documents]
        request.page_token = page.next_page_token
        if not page.next_page_token:
            break
    assert seen == ["d4", "d3", "d2", "d1", "d0"]
    page = await base.stub.ListDocuments(wire.ListDocumentsRequest(page_size=1))
    other = wire.ListDocumentsRequest(page_token=page.next_page_token, topics=["safety"])
    assert await code(base.stub.ListDocuments(other)) is grpc.StatusCode.INVALID_ARGUMENT


async def test_ratings_are_kept_and_exported(base: Knowledge) -> None:
    rated = wire.RecordFeedbackRequest(
        request_id="r1", ratings={"accuracy": 4}, source_usefulness=[5, 0], comment="=1+1, «точно»"
    )
    reply = await base.stub.RecordFeedback(rated, metadata=caller("dr.who"))
    (one,) = await ratings.stored(base.catalogue.data)
    assert (one.feedback_id, one.subject, one.rating.ratings) == (
        reply.feedback_id,
        "dr.who",
        {"accuracy": 4},
    )
    lines = ratings.as_csv([one]).splitlines()
    assert lines[0].startswith("feedback_id,at,subject,request_id,relevance,accuracy,")
    assert lines[1].endswith(""",dr.who,r1,,4,,,,,,5 0,"'=1+1, «точно»\"""")


async def test_states_are_counted_and_what_is_due_is_seen_to(base: Knowledge, tmp_path: Path) -> None:
    await base.all_the_way("lens", TEXT, valid_from="2026-01-01", valid_to="2027-01-01")
    await base.submit("other", "# Other")
    base.days[0] = date(2027, 1, 1)
    upkeep = Upkeep(base.curation, base.jobs.table, Uploads(tmp_path / "uploads", 10))
    await upkeep.look()
    await upkeep.count()
    values = {
        state: REGISTRY.get_sample_value("radrag_documents", {"state": state})
        for state in ("expired", "in_review", "published")
    }
    assert values == {"expired": 1, "in_review": 1, "published": 0}


BAD: list[tuple[str, Callable[[Stub], object]]] = [
    ("header.filename", lambda s: s.SubmitDocument(submission("", "x"))),
    ("header.filename", lambda s: s.SubmitDocument(submission("../x.md", "x"))),
    ("header.metadata.topic", lambda s: s.SubmitDocument(submission("x.md", "x", {"topic": "cooking"}))),
    ("header.metadata.category", lambda s: s.SubmitDocument(submission("x.md", "x", {"category": "blog"}))),
    ("header.metadata.valid_to", lambda s: s.SubmitDocument(submission("x.md", "x", {"valid_to": "soon"}))),
    ("header.metadata.title", lambda s: s.SubmitDocument(submission("x.md", "x", {"title": "t" * 501}))),
    ("header.metadata.title", lambda s: s.SubmitDocument(submission("x.md", "x", {"title": "a\u202eb"}))),
    ("header.filename", lambda s: s.SubmitDocument(submission("x\n.md", "x"))),
    *(
        (
            "header.metadata.document_id",
            lambda s, id_=id_: s.SubmitDocument(submission("x.md", "x", {"document_id": id_})),
        )
        for id_ in ("\u00a0", "\u200b", "a\u202eb", "a\nb")
    ),
    ("header.metadata.source_uri", lambda s: s.SubmitDocument(signed("source_uri"))),
    ("header.metadata.document_id", lambda s: s.SubmitDocument(signed("document_id"))),
    ("data", lambda s: s.SubmitDocument(submission("x.md", ""))),
    ("data", lambda s: s.SubmitDocument(submission("x.md", b"x" * 3_000_001, piece=1_000_000))),
    ("data", lambda s: s.SubmitDocument(submission("x.md", b"x" * 2_000_000, piece=2_000_000))),
    ("header", lambda s: s.SubmitDocument(iter([wire.SubmitDocumentRequest(data=b"x")]))),
    ("document_id", lambda s: s.GetDocument(wire.GetDocumentRequest())),
    ("version", lambda s: s.GetDocument(wire.GetDocumentRequest(document_id="x", version="new"))),
    ("decision", lambda s: s.ReviewDocument(wire.ReviewDocumentRequest(document_id="x", version=ZERO))),
    ("version", lambda s: s.PublishDocument(wire.PublishDocumentRequest(document_id="x"))),
    ("reason", lambda s: s.RetireDocument(wire.RetireDocumentRequest(document_id="x", reason="r" * 2001))),
    ("page_size", lambda s: s.ListDocuments(wire.ListDocumentsRequest(page_size=1001))),
    ("topics", lambda s: s.ListDocuments(wire.ListDocumentsRequest(topics=["safety"] * 101))),
    ("page_token", lambda s: s.ListDocuments(wire.ListDocumentsRequest(page_token="?"))),
    ("ratings[safety]", lambda s: s.RecordFeedback(rated(ratings={"safety": 6}))),
    ("ratings", lambda s: s.RecordFeedback(rated(ratings={"beauty": 1}))),
    ("comment", lambda s: s.RecordFeedback(rated(comment="c" * 4001))),
]


def signed(field: str) -> AsyncIterator[wire.SubmitDocumentRequest]:
    return submission("x.md", "x", {field: "https://e.org/a?sig=abc"})


def rated(ratings: dict[str, int] | None = None, comment: str = "") -> wire.RecordFeedbackRequest:
    return wire.RecordFeedbackRequest(request_id="r", ratings=ratings, comment=comment)


@pytest.mark.parametrize(("field", "call"), BAD, ids=[f"{n}-{field}" for n, (field, _) in enumerate(BAD)])
async def test_a_bad_request_names_the_field(
    base: Knowledge, field: str, call: Callable[[Stub], object], tmp_path: Path
) -> None:
    with pytest.raises(aio.AioRpcError) as refused:
        await call(base.stub)  # type: ignore[misc]
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.value.details() or "").startswith(f"{field}: ")
    assert list((tmp_path / "uploads").glob("*")) == []


async def test_unknown_documents_versions_and_jobs_are_not_found(base: Knowledge) -> None:
    for asked in (
        base.get("nobody"),
        base.stub.DeleteDocument(wire.DeleteDocumentRequest(document_id="nobody")),
        base.stub.RetireDocument(wire.RetireDocumentRequest(document_id="nobody")),
        base.review("nobody", ZERO),
        base.watched("nobody"),
    ):
        assert await code(asked) is grpc.StatusCode.NOT_FOUND


async def code(asked: "object") -> grpc.StatusCode:
    with pytest.raises(aio.AioRpcError) as refused:
        await asked  # type: ignore[misc]
    return refused.value.code()
