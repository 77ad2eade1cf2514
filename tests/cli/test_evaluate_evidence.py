"""Chunkings compared by words alone, on documents small enough to see the answer."""

import argparse
import json
import random
from pathlib import Path

import pytest

from cli import evaluate
from cli.exits import Exit
from cli.word_index import WordIndex
from retrieval.bm25 import Bm25
from retrieval.frequencies import count
from tests.cli.screens import err, out, pipe
from tests.evaluation.tiny import tokenizer


def test_words_rank_as_the_products_weights_say() -> None:
    """Against document weight times IDF, added up term by term."""
    draw = random.Random(3)
    words = [f"word{n}" for n in range(30)]
    texts = {f"c{n:02d}": " ".join(draw.choices(words, k=40)) for n in range(50)}
    bm25 = Bm25(avg_len=40)
    vectors = {one: bm25.document(text) for one, text in texts.items()}
    query = count(vectors.values()).idf(bm25.question("word1 word2 word3 nowhere"))
    weight = dict(zip(query.indices, query.values, strict=True))
    scores = {
        one: sum(weight.get(t, 0) * x for t, x in zip(v.indices, v.values, strict=True))
        for one, v in vectors.items()
    }
    expected = sorted((one for one in scores if scores[one] > 0), key=lambda one: (-scores[one], one))
    assert WordIndex(texts).search("word1 word2 word3 nowhere", 100) == expected
    assert WordIndex(texts).search("nowhere", 5) == []


@pytest.mark.parametrize("form", ["--json", "--markdown"])
async def test_overlap_makes_the_naive_truth_wrong(tmp_path: Path, form: str) -> None:
    facts = [f"Fact number {n} says that organ{n} measures {n} millimetres in adults." for n in range(60)]
    text = "\n".join(facts)
    quotes = [
        {"id": str(n), "topic": "t", "language": "en", "question": f"How large is organ{n}?",
         "answerable": True, "evidence": [[{"document": "d", "quote": facts[n]}]]}
        for n in range(60)
    ]  # fmt: skip
    (tmp_path / "documents.jsonl").write_text(json.dumps({"id": "d", "title": "", "text": text}))
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, quotes)))
    screen = pipe()
    words = ["evidence", str(tmp_path), "--sizes", "40,100", "--overlaps", "0,40", form]
    around = {"RADRAG_EMBEDDER_TOKENIZER": str(tokenizer(tmp_path / "tokenizer"))}
    assert await evaluate.run(argparse.Namespace(words=words), screen, around) == Exit.OK
    if form == "--markdown":
        assert out(screen).count("\n| ") == 5
        return
    cells = json.loads(out(screen))["cells"]
    assert [(cell["tokens"], cell["overlap"]) for cell in cells] == [
        (40, 0.0), (40, 0.4), (100, 0.0), (100, 0.4)
    ]  # fmt: skip
    for plain, lapped in (cells[:2], cells[2:]):
        assert plain["whole"] < lapped["whole"]
        assert lapped["naive"]["R@1"]["mean"] < lapped["aware"]["Evidence@1"]["mean"]


async def test_a_set_without_spans_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "a"}')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "a"}')
    (tmp_path / "qrels.tsv").write_text("q\td\t1\n")
    screen = pipe()
    assert await evaluate.run(argparse.Namespace(words=["evidence", str(tmp_path)]), screen, {}) == Exit.USAGE
    assert "no query has answers with their places" in err(screen)
