"""What the command line lends an evaluation: a private index, the chunker, distractors, arguments."""

import argparse
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli import evaluate, private_index
from cli.distractors import distractors
from cli.evaluate_calibrate import written
from cli.evaluate_parts import Models
from cli.exits import Exit
from cli.private_index import PrivateIndex
from cli.terminal import Terminal
from evaluation.cache import NumberCache
from evaluation.datasets import Document
from evaluation.jsonl import DatasetError
from evaluation.passages import Child, Hit, Parent
from evaluation.retrieval import Indexed, Vectors
from radrag.triton import ModelServer
from retrieval.fusion import Rrf


def indexed(name: str, text: str, vector: Sequence[float], topic: str) -> Indexed:
    child = Child(f"child-{name}", name, 0, len(text), text, "Context")
    parent = Parent(f"parent-{name}", name, 0, len(text), text, (child,))
    return Indexed(Document(name, "", text), topic, [parent], [row(vector)])


def row(values: Sequence[float]) -> Vectors:
    return np.array([values], dtype=np.float32)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[PrivateIndex]:
    one = PrivateIndex(tmp_path, each=2)
    await one.add(
        [
            indexed("a", "gadolinium contrast", [1, 0], "safety"),
            indexed("b", "lens dose limit", [0.6, 0.8], "safety"),
            indexed("c", "контрастное вещество гадолиний", [0, 1], "physics"),
        ]
    )
    yield one
    await one.close()


async def test_each_leg_finds_its_own_in_each_topic(index: PrivateIndex) -> None:
    legs = await index.search("What is the dose limit?", row([0, 1]))
    assert [hit.child for hit in legs["safety"]["bm25"]] == ["child-b"]
    assert [hit.child for hit in legs["safety"]["dense"]] == ["child-b", "child-a"]
    assert [hit.child for hit in legs["physics"]["dense"]] == ["child-c"]
    assert legs["physics"]["bm25"] == []
    assert legs["safety"]["dense"][0].score == pytest.approx(0.8, abs=1e-3)


async def test_russian_words_are_found_by_their_stem(index: PrivateIndex) -> None:
    legs = await index.search("гадолиния", row([1, 0]))
    assert [hit.child for hit in legs["physics"]["bm25"]] == ["child-c"]


async def test_words_that_occur_nowhere_leave_an_empty_leg(index: PrivateIndex) -> None:
    legs = await index.search("zzz", row([1, 0]))
    assert [legs[topic]["bm25"] for topic in ("physics", "safety")] == [[], []]


LEGS = {
    "one": {"dense": [Hit("a", 0.9), Hit("b", 0.8)], "bm25": [Hit("a", 7.0)]},
    "two": {"dense": [Hit("c", 0.5)], "bm25": [Hit("c", 1.0)]},
}


async def test_a_parent_that_is_all_noise_is_neither_embedded_nor_indexed(tmp_path: Path) -> None:
    noise = Parent("noise", "a", 0, 9, "[1] Smith", ())
    numbers, nobody = NumberCache(tmp_path / "numbers", "models"), ModelServer("127.0.0.1:1", "embedder")
    models = Models(nobody, "e", "r", {"noise": (noise.text, [])}, numbers, numbers)
    one = indexed("a", "gadolinium contrast", [1, 0], "safety")
    vectors = await models.embed(one.document, noise)
    index = PrivateIndex(tmp_path / "index", each=2)
    await index.add([replace(one, parents=[noise, *one.parents], vectors=[vectors, *one.vectors])])
    found = await index.search("contrast", row([1, 0]))
    assert [hit.child for hit in found["safety"]["dense"]] == ["child-a"]
    await index.close()
    await nobody.close()
    numbers.close()


def test_per_collection_gives_each_topic_its_share_and_global_does_not() -> None:
    """c is first in its own collection by both legs, and last of all by both scores."""
    rrf = Rrf()
    assert private_index.fuse(LEGS, "per_collection", rrf, each=15, most=90) == ["a", "c", "b"]
    assert private_index.fuse(LEGS, "global", rrf, each=15, most=90) == ["a", "c", "b"]
    by_dense = Rrf(weights={"dense": 1.0, "bm25": 0.0})
    assert private_index.fuse(LEGS, "global", by_dense, each=15, most=2) == ["a", "b"]
    assert private_index.fuse(LEGS, "per_collection", by_dense, each=15, most=2) == ["a", "c"]


def corpus(folder: Path, count: int) -> Path:
    folder.mkdir()
    texts = [f"{folder.name} {n}" for n in range(count)] + [f"{folder.name} 0"]  # the last is told again
    lines = [json.dumps({"_id": f"d/{n}", "title": f"T{n}", "text": text}) for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_distractors_go_round_topics_and_folders(tmp_path: Path) -> None:
    folders = [corpus(tmp_path / "x", 9), corpus(tmp_path / "y", 9)]
    items = distractors(folders, 8, ("safety", "physics", "anatomy"), lambda _: 2, tmp_path / "out")
    assert [item.metadata.document_id for item in items] == [
        "distractor-x-0", "distractor-y-1", "distractor-x-2", "distractor-y-3",
    ]  # fmt: skip
    assert [item.metadata.topic for item in items] == ["safety", "physics", "anatomy", "safety"]
    assert [item.path.read_text(encoding="utf-8") for item in items] == ["x 0", "y 0", "x 1", "y 1"]


def test_fewer_distractors_when_the_folders_hold_fewer_different_texts(tmp_path: Path) -> None:
    items = distractors([corpus(tmp_path / "x", 3)], 100, ("safety",), lambda _: 1, tmp_path / "out")
    assert len(items) == 3


def test_a_folder_without_a_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"corpus.jsonl: is missing"):
        distractors([tmp_path], 1, ("safety",), lambda _: 1, tmp_path / "out")


async def test_a_broken_data_set_is_a_usage_error_that_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.tsv").write_text("1\ta\t1\n")
    (tmp_path / "corpus.jsonl").write_text("{}\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "?"}\n')
    given = argparse.Namespace(words=["retrieval", str(tmp_path)])
    assert await evaluate.run(given, Terminal(), {}) == Exit.USAGE
    assert "corpus.jsonl:1: _id is not a string" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["functional", "--require", "beauty=1"],
        ["functional", "--distractors", "5000"],
        ["functional", "--markdown", "--json"],
        ["retrieval"],
        ["retrieval", "one", "two"],
        ["retrieval", "one", "two", "--mixed", "--split-topics", "hash"],
        ["retrieval", "one", "--measure", "beauty@5"],
        ["retrieval", "one", "--measure", "ChildSpan@0"],
    ],
)
def test_wrong_words_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        evaluate.parsed(words)
    assert ended.value.code == Exit.USAGE
    assert "usage" in capsys.readouterr().err


def test_a_requirement_is_a_share_by_name() -> None:
    given = evaluate.parsed(["functional", "--require", "refused=0.8", "--require", "verified=1"])
    assert dict(given.require) == {"refused": 0.8, "verified": 1.0}


def test_calibration_keeps_the_thresholds_of_other_models(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.json"
    written(path, {"old": {"score": 0.4}}, {})
    written(path, {"new": {"score": 0.6}}, {"e5": {"coverage": 0.5, "cosine": 0.8}})
    values = json.loads(path.read_text(encoding="utf-8"))
    assert values["rerank"] == {"old": {"score": 0.4}, "new": {"score": 0.6}}
    assert values["calibrated"] is True
