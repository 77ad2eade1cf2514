"""Answers measured from a file: by words, against a baseline; and a judge where there is none to be had."""

import argparse
import importlib.util
import json
from pathlib import Path

import pytest

from cli import evaluate
from cli.exits import Exit
from tests.cli.screens import err, out, pipe


def answers(path: Path, texts: list[str]) -> Path:
    lines = [
        {
            "id": f"q{k}",
            "question": "?",
            "answer": text,
            "reference": f"the dose is {k} mSv",
            "sources": ["s"],
        }
        for k, text in enumerate(texts)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


async def radrag(*words: object) -> tuple[int, str, str]:
    screen = pipe()
    given = argparse.Namespace(words=["answers", *map(str, words)])
    return await evaluate.run(given, screen, {}), out(screen), err(screen)


async def test_words_and_baseline(tmp_path: Path) -> None:
    ours = answers(tmp_path / "ours.jsonl", [f"the dose is {k} mSv" for k in range(12)] + [""])
    alone = answers(tmp_path / "alone.jsonl", [f"perhaps {k} or so" for k in range(12)] + [""])
    status, said, _ = await radrag(ours, "--baseline", alone, "--json")
    found = json.loads(said)
    assert (status, found["unanswered"]) == (Exit.OK, 1)
    assert found["scores"]["rouge_1"]["q3"] == pytest.approx(1)
    assert found["baseline"]["rouge_1"]["test"]["n"] == 13
    assert found["baseline"]["rouge_1"]["test"]["p"] < 0.001
    status, said, _ = await radrag(ours, "--markdown")
    assert "13 cases, 1 unanswered" in said


async def test_the_same_answers_differ_nowhere(tmp_path: Path) -> None:
    ours = answers(tmp_path / "ours.jsonl", ["a", "b"])
    status, said, _ = await radrag(ours, "--baseline", ours)
    assert (status, "no pair differs" in said) == (Exit.OK, True)


@pytest.mark.skipif(importlib.util.find_spec("deepeval") is not None, reason="DeepEval is here")
async def test_a_judge_without_deepeval_is_refused(tmp_path: Path) -> None:
    status, _, said = await radrag(answers(tmp_path / "a.jsonl", ["a"]), "--judge", "http://127.0.0.1:1/v1")
    assert (status, "make judge" in said) == (Exit.USAGE, True)
