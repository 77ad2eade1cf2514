"""Which files `radrag ingest` reads, what it shows while it runs and in the end."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cli import arguments, ingest
from cli.exits import Exit
from cli.terminal import Terminal
from ingest import pipeline
from ingest.document import Metadata
from ingest.event import Event, OnEvent, Result, Summary
from ingest.manifest import Item
from ingest.wiring import Plan
from radrag.errors import InvalidArgument
from radrag.settings import Settings
from tests.cli import screens

DONE = Result("a.md", "published", "a", "1", parents=2, children=5, seconds=0.5)
FAILED = Result("b.pdf", "failed", reason="b.pdf: size: it is empty (0 bytes)")
SUMMARY = Summary([FAILED, DONE], 1.25)


TWO_IDS = """
- {file: a.md, id: x, topic: safety}
- {file: sub/a.md, id: x, topic: safety}
- {file: b/a.md, id: y, topic: safety}
"""
TOPICS = ("safety", "physics")
DO = "rename a file, or give ids in a --manifest"


@asynccontextmanager
async def no_parts(plan: Plan) -> AsyncIterator[None]:
    yield


async def all_published(items: Sequence[Item], parts: None, on_event: OnEvent) -> Summary:
    return Summary([Result(item.name, "published", item.name, "1") for item in items])


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.yaml"
    path.write_text("documents:\n- {file: a.md, id: a, topic: physics}\n- {file: sub/b.md, topic: safety}\n")
    return path


def chosen(*words: str) -> list[Item]:
    return ingest.chosen(arguments.parsed(["ingest", *words]))


def test_a_manifest_alone_means_all_it_names(manifest: Path) -> None:
    assert [item.name for item in chosen("--manifest", str(manifest))] == ["a.md", "sub/b.md"]


def test_with_paths_a_manifest_only_describes_them(manifest: Path) -> None:
    items = chosen(str(manifest.parent / "a.md"), "c.md", "--manifest", str(manifest), "--topic", "anatomy")
    assert [(item.name, item.metadata.document_id, item.metadata.topic) for item in items] == [
        ("a.md", "a", "physics"),
        ("c.md", "", "anatomy"),
    ]


def test_the_files_of_a_manifest_may_lie_elsewhere(manifest: Path) -> None:
    items = chosen("--manifest", str(manifest), "--root", "/srv/documents")
    assert items[1].path == Path("/srv/documents/sub/b.md")


def test_plain_files_get_the_topic_given() -> None:
    assert chosen("x/a.pdf", "--topic", "physics") == [
        Item(Path("x/a.pdf"), "a.pdf", Metadata(topic="physics"))
    ]


def test_a_manifest_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=f"--manifest: there is no file {tmp_path}/no.yaml"):
        chosen("--manifest", f"{tmp_path}/no.yaml")


def test_files_that_would_become_one_document_are_all_refused_and_the_rest_is_read() -> None:
    read, refused = ingest.apart(
        chosen("a/index.md", "b/index.md", "c.md", "c.md", "--topic", "safety"), TOPICS
    )
    assert [item.name for item in read] == ["c.md", "c.md"]
    assert [(one.file, one.outcome, one.reason) for one in refused] == [
        ("a/index.md", "failed", f"id: index.md would be the id of b/index.md too; {DO}"),
        ("b/index.md", "failed", f"id: index.md would be the id of a/index.md too; {DO}"),
    ]


def test_two_entries_of_a_manifest_with_one_id_are_refused(manifest: Path) -> None:
    manifest.write_text(TWO_IDS)
    read, refused = ingest.apart(chosen("--manifest", str(manifest)), TOPICS)
    assert ([item.name for item in read], len(refused)) == (["b/a.md"], 2)


def test_a_name_that_is_no_text_is_refused_and_can_be_told() -> None:
    bad = os.fsdecode(b"a/\xff" + b"x" * 210 + b".md")
    read, refused = ingest.apart(chosen(bad, os.fsdecode(b"\xff/b.md"), "--topic", "safety"), TOPICS)
    assert [item.name for item in read] == ["b.md"]
    assert [one.reason for one in refused] == ["name: must be UTF-8 text; rename the file"]
    assert refused[0].file.encode().startswith(b"a/\\udcffx")


def test_without_a_topic_a_file_is_refused_with_what_to_give() -> None:
    read, (refused,) = ingest.apart(chosen("contrast.md"), TOPICS)
    pipe = screens.pipe()
    ingest.shown(pipe, 1)(Event(refused.file, result=refused))
    wanted = "topic: give --topic, or a --manifest that says it; it must be one of safety, physics"
    assert (read, screens.err(pipe)) == ([], f"contrast.md: {wanted}\n")


def test_a_reason_that_names_the_file_is_told_once() -> None:
    pipe = screens.pipe()
    failed = Result("a.md", "failed", reason="topic: a.md: 'x' is unknown")
    ingest.shown(pipe, 1)(Event("a.md", result=failed))
    assert screens.err(pipe) == "a.md: topic: 'x' is unknown\n"


async def test_a_refused_file_does_not_end_the_batch_but_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ingest, "wired", no_parts)
    monkeypatch.setattr(pipeline, "run", all_published)
    pipe = screens.pipe()
    words = ["ingest", "a/index.md", "b/index.md", "c.md", "--topic", "safety", "--json"]
    status = await ingest.run(arguments.parsed(words), pipe, {"RADRAG_HOME": str(tmp_path)})
    found = json.loads(screens.out(pipe))
    assert (status, found["published"], found["failed"]) == (Exit.FAILURE, 1, 2)
    assert screens.err(pipe).startswith("a/index.md: id: index.md would be the id of b/index.md too")


async def test_where_every_file_is_refused_no_service_is_needed(tmp_path: Path) -> None:
    given, pipe = arguments.parsed(["ingest", "c.md"]), screens.pipe()
    environ = {"RADRAG_HOME": str(tmp_path), "RADRAG_EMBEDDER_URL": "127.0.0.1:1"}
    assert await ingest.run(given, pipe, environ) == Exit.FAILURE
    assert screens.err(pipe).startswith("c.md: topic: give --topic")


def test_nothing_to_read_is_a_wrong_argument() -> None:
    with pytest.raises(InvalidArgument, match="PATH"):
        chosen("--topic", "physics")


def test_settings_reach_the_corpus_path() -> None:
    settings = Settings(max_file_megabytes=2, max_child_tokens=100, embed_concurrency=3)
    found = ingest.plan(settings, {}, approver="anna")
    assert found.files.file_bytes == 2_000_000
    assert (found.chunks.max_child_tokens, found.embed_at_once, found.approver) == (100, 3, "anna")
    assert found.tokenizer.is_absolute()


def test_a_screen_shows_how_far_it_is_and_every_terminal_each_failure_at_once() -> None:
    screen, pipe = screens.screen(), screens.pipe()
    for terminal in (screen, pipe):
        on_event = ingest.shown(terminal, 2)
        on_event(Event("a.md", "parse"))
        on_event(Event("a.md", result=DONE))
        on_event(Event("b.pdf", result=FAILED))
    assert "[........................] 0/2 parse a.md" in screens.err(screen)
    assert "[############............] 1/2" in screens.err(screen)
    assert screens.err(pipe) == "b.pdf: size: it is empty (0 bytes)\n"


def reported(terminal: Terminal) -> str:
    ingest.report(terminal, SUMMARY)
    return screens.out(terminal)


def test_the_summary_counts_documents_parents_children_and_seconds() -> None:
    assert reported(screens.pipe()).splitlines() == [
        "published  unchanged  in review  withheld  failed  parents  children  seconds",
        "1          0          0          0         1       2        5         1.2",
    ]


def test_json_has_the_counts_and_every_file() -> None:
    found = json.loads(json.dumps(ingest.as_data(SUMMARY)))
    assert (found["published"], found["failed"], found["children"]) == (1, 1, 5)
    assert [one["file"] for one in found["files"]] == ["a.md", "b.pdf"]
    assert "0 bytes" in found["files"][1]["reason"]
