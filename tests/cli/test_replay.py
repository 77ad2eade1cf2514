"""A saved reply is asked again as of its day; what changed is told by stage, and nothing else."""

import copy
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cli import arguments, differences, question, replay
from cli.exits import Exit
from cli.plain import plain
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.errors import InvalidArgument
from tests import assistant
from tests.assistant import Assistant
from tests.cli import screens

Service = tuple[Assistant, str]


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with assistant.running() as one:
        yield one


async def saved(service: Service, file: Path, *words: str) -> dict[str, Any]:
    """What `ask --json` printed, also in the file."""
    pipe = screens.pipe()
    given = arguments.parsed(["ask", "доза", "--json", *words, "--address", service[1]])
    await question.run(given, pipe, {})
    reply: dict[str, Any] = json.loads(screens.out(pipe))
    store(file, reply)
    return reply


def store(file: Path, reply: object) -> None:
    file.write_text(json.dumps(reply), encoding="utf-8")


async def replayed(service: Service, file: Path, *words: str) -> tuple[int, str, str]:
    pipe = screens.pipe()
    given = arguments.parsed(["replay", str(file), *words, "--address", service[1]])
    status = await replay.run(given, pipe, {})
    return status, screens.out(pipe), screens.err(pipe)


async def test_the_same_service_gives_the_same_reply(service: Service, tmp_path: Path) -> None:
    await saved(service, tmp_path / "reply.json")
    status, out, _ = await replayed(service, tmp_path / "reply.json")
    assert status == Exit.OK
    assert out.endswith("nothing changed\n")


async def test_it_is_asked_as_it_was_on_the_day_it_was(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "reply.json"
    reply = await saved(service, file, "--topic", "safety", "--language", "ru", "--sources", "3")
    reply["manifest"]["as_of"] = "2025-05-05"
    store(file, reply)
    await replayed(service, file)
    asked = service[0].requests[-1]
    assert isinstance(asked, pb.GenerateRequest)
    assert (asked.question, list(asked.filter.topics), asked.limits.sources) == ("доза", ["safety"], 3)
    assert (list(asked.filter.languages), asked.filter.as_of) == (["ru"], "2025-05-05")


async def test_what_changed_is_shown_with_its_stage(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "reply.json"
    reply = await saved(service, file)
    reply["text"], reply["citations"][0]["verified"] = "another [1]", False
    store(file, reply)
    status, out, _ = await replayed(service, file, "--json")
    assert status == Exit.FAILURE
    changed = json.loads(out)["changed"]
    assert [(one["stage"], one["what"]) for one in changed] == [("generate", "text"), ("verify", "citations")]
    assert (changed[0]["was"], changed[0]["now"]) == ("another [1]", "доза [1]")


async def test_without_its_question_only_manifests_are_compared_and_that_is_said(
    service: Service, tmp_path: Path
) -> None:
    file = tmp_path / "audit.json"
    models = [{"role": "generator", "name": "extractive", "weights_sha256": "ab"}]
    store(file, {"manifest": {"models": models, "index_revision": 0}})
    status, out, err = await replayed(service, file)
    assert replay.ONLY_MANIFESTS in err
    assert not service[0].requests
    assert status == Exit.OK
    assert "nothing changed" in out


@pytest.mark.parametrize("text", ["", "[]", "{}", "no json", '{"manifest": 1}'])
def test_a_file_that_is_no_reply_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "reply.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgument, match="FILE"):
        replay.read(file)


def reply() -> dict[str, Any]:
    model = [
        pb.Model(role=role, name=role, weights_sha256="ab") for role in ("embedder", "reranker", "generator")
    ]
    manifest = pb.Manifest(
        models=model, prompt_sha256="cd", index_generation="g1", index_revision=7,
        document_versions=["icrp-103@0123456789abcdef"], settings_sha256="ef", as_of="2026-12-01",
    )  # fmt: skip
    return plain(
        pb.GenerateResponse(
            outcome=pb.OUTCOME_ANSWERED, text="t", reason="complete", manifest=manifest,
            ranked_parents=[assistant.parent()], citations=[assistant.CITATION],
            warnings=[assistant.WARNING],
        )
    )  # fmt: skip


CHANGES = {
    ("settings", "settings"): lambda one: one["manifest"].update(settings_sha256="00"),
    ("embed", "embedder"): lambda one: one["manifest"]["models"][0].update(weights_sha256="00"),
    ("search", "index generation"): lambda one: one["manifest"].update(index_generation="g2"),
    ("search", "index revision"): lambda one: one["manifest"].update(index_revision=8),
    ("search", "document versions"): lambda one: one["manifest"].update(document_versions=["x@1"]),
    ("search", "sources"): lambda one: one["ranked_parents"][0].update(start=5),
    ("rerank", "reranker"): lambda one: one["manifest"]["models"][1].update(name="other"),
    ("rerank", "best rerank score"): lambda one: one["ranked_parents"][0]["scores"].update(rerank=0.5),
    ("prompt", "prompt"): lambda one: one["manifest"].update(prompt_sha256="00"),
    ("generate", "generator"): lambda one: one["manifest"]["models"][2].update(name="gguf"),
    ("generate", "text"): lambda one: one.update(text="u"),
    ("verify", "citations"): lambda one: one["citations"][0].update(marker=2),
    ("verify", "warnings"): lambda one: one["warnings"].clear(),
    ("outcome", "outcome"): lambda one: one.update(outcome="OUT_OF_SCOPE"),
}


@pytest.mark.parametrize(("stage", "what"), CHANGES)
def test_each_change_is_told_by_its_stage(stage: str, what: str) -> None:
    other = copy.deepcopy(reply())
    CHANGES[stage, what](other)
    assert [(one.stage, one.what) for one in differences.replies(reply(), other)] == [(stage, what)]


def test_equal_replies_differ_in_nothing_whatever_their_ids_and_times() -> None:
    other = copy.deepcopy(reply())
    other["request_id"], other["stages"] = "other", [{"name": "embed"}]
    assert differences.replies(reply(), other) == []
