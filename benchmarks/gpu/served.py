"""The models on a real Triton: what is served, how it starts and ends, and one call of each."""

import asyncio
import json
import random
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import numpy as np

from benchmarks.gpu.bundles import bundle
from benchmarks.gpu.kserve import Client, Tensor
from benchmarks.gpu.measure import Case
from benchmarks.gpu.plan import Call, Plan
from benchmarks.gpu.random_models import MODELS
from benchmarks.gpu.sizes import Size
from cli import ports
from cli.model_environment import ROOT
from cli.process import Child
from cli.triton_server import TritonServer

from frida_tokens import PREFIXES, FridaTokenizer  # isort: skip
from local_model import Place  # isort: skip
from qwen3_prompt import Prompts  # isort: skip
from weights_manifest import pin, verify  # isort: skip

NAMES = ("frida", "qwen3_reranker", "qwen3_moe")
SOURCES = {name: MODELS / name for name in NAMES[:2]} | {
    "qwen3_moe": Path(__file__).parent / "models/qwen3_moe"
}
QUESTION = " ".join(f"w{number}" for number in range(100, 130))


@contextmanager
def server(plan: Plan, place: Place, seconds: float) -> Iterator[tuple[Path, Client]]:
    """The three on a server of their own, and the folder of their weights. Raises TritonNotReady."""
    with tempfile.TemporaryDirectory(prefix="radrag-gpu-") as name:
        folder = Path(name)
        repository(folder, plan, place)
        triton = TritonServer(Child("triton", folder), NAMES, free_port(), repository=folder / "models")
        asyncio.run(triton.start(seconds))
        try:
            yield folder, Client(triton.http)
        finally:
            asyncio.run(triton.stop())


def repository(folder: Path, plan: Plan, place: Place) -> None:
    """models/ and, for the two that have any, weights/ with random numbers."""
    common = {"device": place.device.type, "precision": place.precision}
    for name, size in (("frida", plan.frida), ("qwen3_reranker", plan.reranker)):
        weights = bundle(name, size, folder / "weights" / name, place.dtype)
        own = {"dimension": str(size.width)} if name == "frida" else {}
        config = model(folder, name, {**common, **own, "weights": str(weights)}, size.width)
        pin(verify(weights), config)
    numbers = json.dumps(astuple(plan.moe))
    model(folder, "qwen3_moe", {**common, "size": numbers, "root": str(ROOT)}, plan.moe.width)


def model(folder: Path, name: str, parameters: Mapping[str, str], width: int) -> Path:
    """A copy of the model's folder with these parameters. Its config.pbtxt."""
    place = shutil.copytree(SOURCES[name], folder / "models" / name)
    config = place / "config.pbtxt"
    # This Triton knows no GPU, its Python models do: `device` says where they compute.
    text = config.read_text(encoding="utf-8").replace("KIND_GPU", "KIND_CPU")
    text = text.replace("[ -1, 1536 ]", f"[ -1, {width} ]")
    for key, value in parameters.items():
        entry = rf'(key: "{key}"\s+value: {{ string_value: ")[^"]*'
        text, changed = re.subn(entry, rf"\g<1>{value}", text)
        assert changed == 1, key
    config.write_text(text, encoding="utf-8")
    return config


def free_port() -> int:
    """A port that is free together with its neighbours, which serve HTTP and metrics."""
    while True:
        port = random.randrange(20_001, 30_000)
        if not ports.taken(ports.Port("127.0.0.1", port + above, "benchmark") for above in (-1, 0, 1)):
            return port


def cases(plan: Plan, folder: Path, client: Client) -> Iterator[tuple[Case, Size, Call]]:
    with ThreadPoolExecutor(max(plan.rows)) as pool:
        room = FridaTokenizer.load(folder / "weights/frida/tokenizer.json")
        beside = len(room.row(room.tokens("w1", PREFIXES["document"]).prefix, ()))
        for case in plan.cases("frida", "triton"):
            texts = words(case.rows, case.length - beside, plan.frida)
            yield case, plan.frida, embedding(client, texts, pool)
    prompts = Prompts.load(folder / "weights/qwen3_reranker/tokenizer.json")
    beside = len(prompts.row(QUESTION, "w1").ids) - 1
    for case in plan.cases("qwen3_reranker", "triton"):
        passages = words(case.rows, case.length - beside, plan.reranker)
        yield case, plan.reranker, judging(client, passages)
    for case in plan.cases("qwen3_moe", "triton"):
        yield case, plan.moe, writing(client, case, plan.moe)


def words(rows: int, count: int, size: Size) -> list[str]:
    """Random texts of `count` tokens each."""
    known = range(100, size.vocabulary - 100)
    return [" ".join(f"w{number}" for number in random.choices(known, k=max(1, count))) for _ in range(rows)]


def embedding(client: Client, texts: list[str], pool: ThreadPoolExecutor) -> Call:
    """A request a text, all at once, as callers come: Triton's batcher merges them."""
    none = np.empty((1, 0, 2), np.int32)
    requests = [{"TEXT": column([text]), "TASK": column(["document"]), "SPANS": none} for text in texts]

    def call() -> list[dict[str, Tensor]]:
        return list(pool.map(lambda one: client.infer("frida", one), requests))

    return call


def judging(client: Client, passages: list[str]) -> Call:
    """One request, as a reranking is."""
    rows = {"QUERY": column([QUESTION] * len(passages)), "PASSAGE": column(passages)}
    return lambda: client.infer("qwen3_reranker", rows)


def writing(client: Client, case: Case, size: Size) -> Call:
    drawn = [random.choices(range(1, size.vocabulary), k=case.length) for _ in range(case.rows)]
    inputs = {
        "IDS": np.array(drawn, np.int32),
        "COUNT": np.full((case.rows, 1), case.written, np.int32),
    }
    return lambda: client.infer("qwen3_moe", inputs)


def column(texts: list[str]) -> Tensor:
    return np.array([[text.encode()] for text in texts], np.object_)
