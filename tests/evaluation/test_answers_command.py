"""`radrag eval answers` and the grid of depths; service and generator write what is expected."""

import argparse
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from cli import evaluate, evaluate_writing, places
from cli.evaluate_writing import Write, Writer
from cli.exits import Exit
from cli.terminal import Terminal
from evaluation import written
from evaluation.written import Asked, Shown, Written
from gateway.templates import TEMPLATES
from radrag.errors import ModelUnavailable
from radrag.settings import Settings
from radrag.triton import Piece

SHOWN = (
    Shown("dose", "Dose", (), "", "The annual limit for the lens is 20 mSv.", "en"),
    Shown("door", "Doors", (), "", "The door to Zone III is locked.", "en"),
)
QUESTIONS = [
    {"id": "dose", "question": "What is the limit?", "answerable": True, "reference_answer": "It is 20 mSv.",
     "evidence": [[{"document": "dose", "quote": "20 mSv"}]]},
    {"id": "none", "question": "Who invented it?", "answerable": False, "evidence": []},
    {"id": "down", "question": "Is it down?", "answerable": True, "reference_answer": "Yes.",
     "evidence": [[{"document": "door", "quote": "locked"}]]},
]  # fmt: skip


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = [one | {"topic": "safety", "language": "en"} for one in QUESTIONS]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


async def service(asked: Asked) -> Written:
    """Answers what it knows, refuses what nobody knows, and fails once."""
    if asked.id == "down":
        return Written(asked, "", error="Unavailable")
    if asked.answerable:
        text = "«The annual limit for the lens is 20 mSv.» [1]"
        return Written(asked, text, tuple(s.readable for s in SHOWN), "ANSWERED", 1, 1, 0, SHOWN)
    return Written(asked, "The sources do not say.", (), "INSUFFICIENT_EVIDENCE")


prompts: list[str] = []


async def generate(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
    """Quotes the source on doses where it is shown; else it guesses."""
    prompts.append(prompt)
    if "What is the limit?" in prompt and "20 mSv" in prompt:
        number = 2 if "Zone III" in prompt[: prompt.index("20 mSv")] else 1
        yield Piece(f"The annual limit for the lens is 20 mSv [{number}].", "stop", 1, 1)
    elif "Is it down?" in prompt:
        raise ModelUnavailable("generator")
    else:
        yield Piece("It is 50 mSv.", "stop", 1, 1)


@pytest.fixture(autouse=True)
def writers(monkeypatch: pytest.MonkeyPatch) -> None:
    prompts.clear()

    @asynccontextmanager
    async def by_service(settings: Settings) -> AsyncIterator[Write]:
        yield service

    @asynccontextmanager
    async def by_generator(settings: Settings) -> AsyncIterator[Writer]:
        yield Writer(settings, TEMPLATES["plain"], generate)

    monkeypatch.setattr(evaluate_writing, "by_service", by_service)
    monkeypatch.setattr(evaluate_writing, "by_generator", by_generator)


async def command(*words: object) -> int:
    given = argparse.Namespace(words=[str(word) for word in words])
    return await evaluate.run(given, Terminal(), {})


async def told(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    assert await command("answers", *words, "--json") == Exit.OK
    return dict(json.loads(capsys.readouterr().out))


async def test_the_service_is_asked_and_its_answers_are_kept(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    values = await told(capsys, questions, "--out", kept)
    assert (values["cases"], values["unanswered"], values["failed_calls"]) == (3, 2, 1)
    scores = values["scores"]
    assert isinstance(scores, dict)
    for name in ("citation_validity", "quote_exactness", "numbers_supported", "refusal_recall"):
        assert list(scores[name].values()) == [1.0]
    assert set(scores["bleu_1"]) == set(scores["rouge_l"]) == {"dose"}  # a failed call is never a zero
    again = await told(capsys, kept)
    assert again["scores"] == scores


async def test_the_model_alone_is_compared_pair_by_pair(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "alone.jsonl"
    values = await told(capsys, questions, "--alone", alone)
    assert all("20 mSv" not in prompt for prompt in prompts)
    assert {one.asked.id: one.answer for one in written.read(alone)}["dose"] == "It is 50 mSv."
    baseline = values["baseline"]
    assert isinstance(baseline, dict)
    assert baseline["answered"]["test"]["note"] == "no pair differs"
    assert baseline["rouge_1"]["test"]["n"] == 1
    assert baseline["rouge_1"]["test"]["p"] == 1.0


async def test_a_table_for_people(
    questions: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert await command("answers", questions, "--markdown", "--alone", tmp_path / "alone.jsonl") == Exit.OK
    shown = capsys.readouterr()
    assert "3 cases, 2 unanswered" in shown.out
    assert "| metric | with sources | model alone | pairs | Wilcoxon p |" in shown.out
    assert "1 of 3 questions failed: Unavailable" in shown.err


async def test_only_some_questions_are_asked_and_always_the_same(
    questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, again = [await told(capsys, questions, "--limit", 2) for _ in range(2)]
    assert first["cases"] == 2
    assert first["scores"] == again["scores"]


async def test_depth_is_measured_on_frozen_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, out = tmp_path / "frozen.jsonl", tmp_path / "out"
    asked = Asked("dose", "What is the limit?", "It is 20 mSv.", answerable=True)
    deep = Written(asked, "", passages=SHOWN[::-1])
    written.write([deep, Written(Asked("none", "?", "", False), "", outcome="INSUFFICIENT_EVIDENCE")], kept)
    grid = places.ROOT / "evaluation" / "grids" / "depth.yaml"
    assert await command("ablate", grid, out, "--dataset", kept) == Exit.OK
    results = {
        (one["settings"]["contexts"], one["settings"]["cap"]): one["rows"]["generated"]["answered"]["mean"]
        for one in (json.loads(path.read_text(encoding="utf-8")) for path in out.glob("*.json"))
    }
    assert results == {(k, cap): float(k > 1) for k in range(1, 6) for cap in (900, 1800)}
    assert "contexts=1 cap=900" in capsys.readouterr().out


async def test_a_cap_cuts_each_source(tmp_path: Path) -> None:
    grid, kept, out = tmp_path / "grid.yaml", tmp_path / "frozen.jsonl", tmp_path / "out"
    asked = Asked("dose", "What is the limit?", "r", answerable=True)
    written.write([Written(asked, "", passages=SHOWN)], kept)
    grid.write_text(yaml.safe_dump({"frozen": str(kept), "each": {"cap": [0, 10]}}), encoding="utf-8")
    assert await command("ablate", grid, out) == Exit.OK
    assert ["20 mSv" in prompt for prompt in prompts] == [True, False]
    assert all("Zone" not in prompt for prompt in prompts[1:])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("frozen: gone.jsonl", "gone.jsonl: is missing"),
        ("{frozen: gone.jsonl, dataset: x}", "stands instead of dataset"),
        ("{frozen: gone.jsonl, each: {contexts: [0]}}", "contexts is 0"),
        ("{frozen: gone.jsonl, each: {contexts: [some]}}", "contexts is 'some'"),
        ("{frozen: gone.jsonl, settings: {rrf_k: 20}}", "'rrf_k' is no setting or option"),
    ],
)
async def test_a_wrong_grid_over_frozen_sources_is_named(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "grid.yaml"
    grid.write_text(text, encoding="utf-8")
    assert await command("ablate", grid, tmp_path / "out") == Exit.USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--metric", "beauty"], ["--labels-for", "faithfulness"], ["--alone", "a", "--baseline", "b"]]
)
def test_wrong_words_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        evaluate.parsed(["answers", "answers.jsonl", *words])
