"""The encoder's weights as other graphs: how fast, how far from float32, and what that does to retrieval."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import in_process
from benchmarks.in_process import Floats
from cli.places import ROOT
from evaluation import datasets, measures

SCIFACT = ROOT.parent / "shared" / "data" / "scifact"
QUERIES, DISTRACTORS = 60, 150


def compared(folder: Path, texts: Mapping[int, Sequence[str]]) -> dict[str, object]:
    """Each variant beside the 4-bit graph that is served. `folder` holds fp32.onnx and int8.onnx."""
    files = {"q4": None, "fp32": folder / "fp32.onnx", "int8": folder / "int8.onnx"}
    loaded = {name: in_process.encoder(file) for name, file in files.items()}
    some = [text for each in texts.values() for text in each[:8]]
    vectors = {name: _alone(encoder, some) for name, encoder in loaded.items()}
    found = dict[str, object]()
    for name, encoder in loaded.items():
        together = encoder.embed(some, "query: ").vectors
        found[name] = {
            "tokens_per_second": {
                str(length): _rate(encoder, length, each) for length, each in texts.items()
            },
            "cosine_to_fp32": _cosines(vectors[name], vectors["fp32"]),
            "cosine_alone_to_batched": _cosines(vectors[name], together),
            "ndcg_at_10": _ndcg(encoder) if SCIFACT.is_dir() else "not measured: no ../shared/data/scifact",
        }
        print(name, found[name], flush=True)
    return found


def _alone(encoder: Any, texts: Sequence[str]) -> Floats:
    return np.concatenate([encoder.embed([text], "query: ").vectors for text in texts])


def _cosines(one: Floats, other: Floats) -> dict[str, float]:
    cosines = (one * other).sum(axis=1)
    return {"least": round(float(cosines.min()), 6), "median": round(float(np.median(cosines)), 6)}


def _rate(encoder: Any, length: int, texts: Sequence[str]) -> int:
    """Tokens per CPU second, one text at a time."""
    times = []
    for text in texts[:8]:
        began = time.process_time()
        encoder.embed([text], "query: ")
        times.append(time.process_time() - began)
    return round(length / median(times))


def _ndcg(encoder: Any) -> float:
    """nDCG@10 of the first questions of scifact among what is judged for them and other documents."""
    whole = datasets.load(SCIFACT, "test")
    queries = whole.queries[:QUERIES]
    wanted = {document for query in queries for document in whole.qrels[query.id]}
    others = [one for one in whole.documents if one.id not in wanted][:DISTRACTORS]
    held = [one for one in whole.documents if one.id in wanted] + others
    passages = encoder.embed([f"{one.title}\n{one.text}" for one in held], "passage: ").vectors
    asked = encoder.embed([query.text for query in queries], "query: ").vectors
    ids = [one.id for one in held]
    rankings = {
        query.id: [ids[place] for place in np.argsort(-row)[:10]]
        for query, row in zip(queries, asked @ passages.T, strict=True)
    }
    judged = {query.id: whole.qrels[query.id] for query in queries}
    each = measures.per_query(rankings, judged, ("nDCG@10",))["nDCG@10"]
    return round(float(np.mean(list(each.values()))), 4)
