"""`radrag kb`: what a curator sees and does in the terminal, on a catalogue and an index of its own."""

import csv
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cli import arguments, kb_arguments, kb_review
from cli.__main__ import run
from cli.exits import Exit
from cli.kb import opened
from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.ratings import Rating, store
from ingest.catalogue.states import State
from tests.cli import screens
from tests.ingest.conftest import tmp_path  # noqa: F401
from tests.ingest.knowledge import Knowledge, knowledge
from tests.ingest.versions import document, published, taken

TEXT = "# Линза\n\nПредел дозы для хрусталика 20 мЗв в год.\n\n## МРТ\n\nДозы нет."


class Shell:
    """Runs `radrag kb …` and keeps what it wrote."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ

    async def __call__(self, *words: str) -> tuple[int, str]:
        screen = screens.pipe()
        status = await run(arguments.parsed(["kb", *words]), screen, self.environ)
        return status, screens.out(screen) + screens.err(screen)

    async def data(self, *words: str) -> object:
        screen = screens.pipe()
        status = await run(arguments.parsed(["kb", *words, "--json"]), screen, self.environ)
        assert status == Exit.OK, screens.err(screen)
        return json.loads(screens.out(screen))


@pytest.fixture
async def catalogue(tmp_path: Path) -> AsyncIterator[Catalogue]:  # noqa: F811
    one = await Catalogue.opened(f"sqlite:///{tmp_path}/catalogue.db")
    yield one
    await one.close()


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:  # noqa: F811
    monkeypatch.setenv("LOGNAME", "anna")
    return Shell({"RADRAG_HOME": str(tmp_path), "RADRAG_RETRIEVAL_ADDRESS": "127.0.0.1:1"})


def named(found: object) -> list[tuple[str, str]]:
    assert isinstance(found, list)
    return [(one["document_id"], one["state"]) for one in found]


def test_the_states_offered_are_those_of_the_catalogue() -> None:
    assert set(kb_arguments.STATES) == {one.value for one in State} - {"deleted"}


async def test_versions_are_listed_newest_first_by_state_and_topic(
    catalogue: Catalogue, shell: Shell
) -> None:
    await published(catalogue, document("a", TEXT))
    await taken(catalogue, document("b", "# B", topic="physics"))
    assert named(await shell.data("list")) == [("b", "in_review"), ("a", "published")]
    assert named(await shell.data("list", "--state", "published")) == [("a", "published")]
    assert named(await shell.data("list", "--topic", "physics")) == [("b", "in_review")]
    status, text = await shell("list")
    assert (status, text.splitlines()[0].split()[:2]) == (Exit.OK, ["state", "topic"])


async def test_review_shows_flags_changes_and_what_is_alike_before_it_asks(
    catalogue: Catalogue, shell: Shell
) -> None:
    words = " ".join(f"слово{n}" for n in range(100))
    await published(catalogue, document("a", f"{TEXT}\n\n{words}"))
    await published(catalogue, document("twin", f"{TEXT}\n\n{words} ещё"))
    await taken(catalogue, document("a", f"{TEXT}\n\n{words}".replace("20 мЗв", "15 мЗв")))
    status, text = await shell("review")
    assert status == Exit.OK
    for line in (
        "flags: near_duplicate",
        "changed: Линза",
        "  - Предел дозы для хрусталика 20 мЗв в год.",
        "  + Предел дозы для хрусталика 15 мЗв в год.",
    ):
        assert line in text.splitlines()
    assert "like twin version" in text
    assert named(await shell.data("review")) == [("a", "in_review")]


@pytest.mark.parametrize(
    ("answers", "state"), [("a", "approved"), ("r, outdated", "rejected"), ("t,s", "in_review"), ("x,q", "")]
)
async def test_a_reviewer_at_the_terminal_approves_rejects_reads_skips_or_stops(
    catalogue: Catalogue, shell: Shell, answers: str, state: str
) -> None:
    entry = await taken(catalogue, document("a", TEXT))
    screen, given = screens.pipe(), iter(answers.split(","))
    async with opened(shell.environ) as curation:
        desk = kb_review.Desk(curation, screen, "anna")
        if not state:
            with pytest.raises(kb_review.Enough):
                await desk.review(entry, lambda question: next(given))
            state = "in_review"
        else:
            assert (await desk.review(entry, lambda question: next(given))).state.value == state
    assert (await catalogue.find("a")).state.value == state
    assert ("Предел дозы" in screens.out(screen)) == answers.startswith("t")


async def test_decisions_without_asking(catalogue: Catalogue, shell: Shell) -> None:
    first = await taken(catalogue, document("a", TEXT))
    await taken(catalogue, document("b", "# B"))
    assert (await shell("approve", "a"))[0] == Exit.USAGE
    assert named(await shell.data("approve", "a", "--version", first.version)) == [("a", "approved")]
    assert named(await shell.data("review", "b", "--reject", "no source")) == [("b", "rejected")]
    assert named(await shell.data("retry", "b", "--reason", "source found")) == [("b", "in_review")]
    assert named(await shell.data("review", "--approve")) == [("b", "approved")]
    shown = await shell.data("show", "b")
    assert isinstance(shown, dict)
    assert [(one["act"], one["subject"], one["reason"]) for one in shown["history"][2:]] == [
        ("reject", "anna", "no source"), ("retry", "anna", "source found"), ("approve", "anna", ""),
    ]  # fmt: skip


async def test_two_people_are_needed_when_the_setting_says_so(
    catalogue: Catalogue, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = await taken(catalogue, document("a", TEXT))
    shell.environ["RADRAG_TWO_PERSON_REVIEW"] = "true"
    line = ("approve", "a", "--version", entry.version)
    assert named(await shell.data(*line)) == [("a", "in_review")]
    assert (await shell(*line))[0] == Exit.REFUSED
    monkeypatch.setenv("LOGNAME", "boris")
    assert named(await shell.data(*line)) == [("a", "approved")]


async def test_statuses_tell_scripts_what_went_wrong(catalogue: Catalogue, shell: Shell) -> None:
    entry = await taken(catalogue, document("a", TEXT))
    await published(catalogue, document("b", "# B"))
    assert (await shell("show", "nobody"))[0] == Exit.NOT_FOUND
    assert (await shell("retire", "a"))[0] == Exit.FAILED_PRECONDITION
    assert (await shell("retire", "b", "--from", "soon"))[0] == Exit.USAGE
    assert (await shell("reject", "a", "--version", entry.version))[0] == Exit.USAGE
    assert (await shell("delete", "b"))[0] == Exit.UNAVAILABLE  # no index: the deletion waits, begun
    assert [one.document_id for one in await catalogue.begun()] == ["b"]


async def test_what_is_not_approved_is_not_published_and_told_what_it_needs(
    catalogue: Catalogue, shell: Shell
) -> None:
    entry = await taken(catalogue, document("a", TEXT))
    status, said = await shell("publish", "a")
    assert (status, said.startswith(f"radrag: a@{entry.version} is in review: approve it first")) == (
        Exit.FAILED_PRECONDITION, True,
    )  # fmt: skip
    await catalogue.reject("a", entry.version, "expert", "no source")
    _, said = await shell("publish", "a", "--version", entry.version)
    assert said.startswith(f"radrag: a@{entry.version} is rejected: reopen it (radrag kb retry)")
    assert await shell("publish", "b") == (Exit.NOT_FOUND, "radrag: document 'b' is unknown\n")


async def test_stats_markdown_and_ratings_are_printed(catalogue: Catalogue, shell: Shell) -> None:
    await published(catalogue, document("a", TEXT, category="regulatory"))
    await store(catalogue.data, Rating("r1", {"safety": 5}, 0, (4,), "хорошо"), "dr.who")
    stats = await shell.data("stats")
    assert stats == {
        "state": {"published": 1}, "topic": {"safety": 1},
        "category": {"regulatory": 1}, "language": {"en": 1},
    }  # fmt: skip
    assert (await shell("show", "a", "--markdown"))[1] == TEXT + "\n"
    (row,) = csv.DictReader(io.StringIO((await shell("feedback", "--csv"))[1]))
    assert (row["subject"], row["safety"], row["comment"]) == ("dr.who", "5", "хорошо")


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Knowledge]:  # noqa: F811
    async with knowledge(tmp_path) as one:
        yield one


async def test_retire_delete_and_reconcile_reach_the_index(base: Knowledge, shell: Shell) -> None:
    shell.environ["RADRAG_RETRIEVAL_ADDRESS"] = base.index_address
    old = await base.all_the_way("lens", TEXT, valid_from="2026-01-01")
    await base.all_the_way("other", "# Other\n\nSomething else.")
    assert named(await shell.data("retire", "lens", "--from", "2026-11-01")) == [("lens", "expired")]
    assert await base.found("предел дозы для хрусталика", document_ids=["lens"]) == []
    await base.curation.indexed.remove("other")
    status, text = await shell("reconcile", "--dry-run")
    assert (status, "published in the catalogue, but not in the index" in text) == (Exit.FAILURE, True)
    assert named(await shell.data("delete", "other", "--reason", "twice")) == [("other", "deleted")]
    assert (await shell("reconcile")) == (Exit.OK, "catalogue and index agree\n")
    assert [one.document.version for one in await base.curation.indexed.all()] == [old]


def test_review_without_a_terminal_only_shows() -> None:
    assert kb_review.answers(arguments.parsed(["kb", "review"]))("?") == "s"
