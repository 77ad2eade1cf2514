"""`radrag kb reindex` from one pooling of the real embedder to another, on a real retrieval process."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli import arguments
from cli.__main__ import run
from cli.exits import Exit
from cli.triton_server import TritonServer
from tests.cli import screens
from tests.ingest.conftest import tmp_path  # noqa: F401
from tests.retrieval.process import running

TEXTS = {
    "lens": "# Предел дозы для хрусталика\n\nПредел дозы для хрусталика 20 мЗв в год.",
    "quench": "# What to do in a quench\n\nAfter a quench everybody leaves the scanner room.",
}


async def radrag(environ: Mapping[str, str], *words: str) -> tuple[int, Any]:
    screen = screens.pipe()
    status = await run(arguments.parsed([*words, "--json"]), screen, environ)
    out = screens.out(screen)
    return status, json.loads(out) if out else screens.err(screen)


async def test_another_pooling_is_built_checked_switched_to_and_left_again(
    tmp_path: Path,  # noqa: F811
    triton: TritonServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGNAME", "anna")
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.md").write_text(text)
    async with running(tmp_path) as process:
        old = {
            "RADRAG_HOME": str(tmp_path),
            "RADRAG_EMBEDDER_URL": triton.grpc,
            "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{process.port}",
        }
        new = {**old, "RADRAG_EMBEDDER_MODEL": "e5_small_late"}
        files = [str(tmp_path / f"{name}.md") for name in TEXTS]
        assert (await radrag(old, "ingest", *files, "--topic", "safety", "--approve"))[0] == Exit.OK
        kb = ("kb", "reindex")
        status, built = await radrag(new, *kb, "start")
        assert (status, built) == (Exit.OK, {"generation": "g2", "written": 2, "removed": 0, "failed": {}})
        _, listed = await radrag(new, *kb, "status")
        assert [(one["embedder"], one["in_use"], one["lacks"]) for one in listed] == [
            ("e5_small", True, 0),
            ("e5_small_late", False, 0),
        ]
        status, refusal = await radrag(old, *kb, "switch", "g2")
        assert status != Exit.OK
        assert "made by other settings (embedder e5_small_late)" in str(refusal)
        questions = tmp_path / "questions.jsonl"
        questions.write_text(json.dumps(asked("mammography"), ensure_ascii=False) + "\n")
        status, refusal = await radrag(new, *kb, "switch", "g2", "--questions", str(questions))
        assert "none of 1 questions finds its document" in str(refusal)
        _, documents = await radrag(old, "kb", "list")
        (lens,) = [one["document_id"] for one in documents if one["language"] == "ru"]
        questions.write_text(json.dumps(asked(lens), ensure_ascii=False) + "\n")
        status, done = await radrag(new, *kb, "switch", "g2", "--questions", str(questions))
        assert (status, done) == (
            Exit.OK,
            {"generation": "g2", "previous": "g1", "asked": 1, "found": 1, "lost": []},
        )
        assert (await radrag(old, *kb, "rollback"))[1] == {"generation": "g1", "previous": "g2", "lacks": []}
        assert (await radrag(old, *kb, "drop", "g2"))[0] == Exit.OK
        assert (await radrag(old, "kb", "reconcile"))[1] == {"found": [], "left": []}
        await check_watch(tmp_path, old)


async def check_watch(folder: Path, environ: Mapping[str, str]) -> None:
    """A watched folder's new file is read into review and told of, once."""
    (folder / "watched").mkdir()
    (folder / "watched" / "new.md").write_text("# New\n\nSomething new about gadolinium.")
    sources = folder / "sources.yaml"
    sources.write_text("sources:\n- {folder: watched, topic: safety}\n")
    status, told = await radrag(environ, "kb", "watch", str(sources), "--once")
    assert (status, told["new"], told["sources"][0]["state"]) == (Exit.OK, 1, "in_review")
    assert (await radrag(environ, "kb", "watch", str(sources)))[1]["unchanged"] == 1


def asked(document_id: str) -> dict[str, object]:
    """A question of a set, with its evidence in this document."""
    return {
        "id": "q1",
        "topic": "safety",
        "language": "ru",
        "question": "Сколько мЗв в год допустимо для хрусталика?",
        "answerable": True,
        "reference_answer": "20 мЗв",
        "evidence": [[{"document": document_id, "quote": "Предел дозы для хрусталика 20 мЗв в год."}]],
    }
