"""FRIDA and Qwen3-Reranker on a real Triton, tiny, and the ways in which they must not start.

One server holds the good ones and the bad ones, so that a bad one is seen not to be READY while others serve.
"""

import asyncio
import itertools
import json
import math
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from frida_golden import decoded
from tritonclient.grpc import aio
from tritonclient.utils import InferenceServerException

from cli.process import Child
from cli.triton_server import TritonServer, command, environ
from radrag.errors import InvalidArgument
from radrag.triton import ModelServer
from tests.conftest import ran
from tests.model_repository.tiny_bundles import tiny_bundle
from tests.model_repository.tiny_models import DIMENSION
from tests.model_repository.tiny_repository import (
    TinyRepository,
    filled,
    for_bert,
    truncate,
    without_tokenizer,
)
from tests.ports import free_grpc_port

FRIDAS = ("frida", "frida_chunk", "frida_late", "frida_blend")
GOOD = (*FRIDAS, "qwen3_reranker")
BAD = {
    "truncated": r"model\.safetensors is truncated: \d+ bytes, the manifest says \d+",
    "other_weights": r"golden case \d: cosine -?\d\.\d+ is below 0\.9999",
    "nan": r"the weights hold a value that is not finite, in encoder\.block\.\d\.layer\.0\.SelfAttention\.v",
    "for_bert": r"config\.json is for BertModel, needed is T5EncoderModel or T5ForConditionalGeneration",
    "no_tokenizer": r"tokenizer\.json is absent",
    "no_cuda": r"device is cuda, but PyTorch sees no CUDA device",
    "half": r"precision fp16 is refused: T5 overflows in it; use bf16 or fp32",
    "unpinned": r"sha256 [0-9a-f]{64}, config\.pbtxt says unpinned",
    "no_weights": r"/nowhere/frida/manifest\.json is absent",
    "unforeseen": r"KeyError: 'weights'$",
    "reranker_truncated": r"model\.safetensors is truncated: \d+ bytes, the manifest says \d+",
    "reranker_other_weights": r"golden case \d: score \d\.\d+, known is \d\.\d+",
    "reranker_nan": r"the weights hold a value that is not finite, in model\.layers\.\d\.self_attn\.v_proj",
    "reranker_for_bert": r"config\.json is for BertModel, needed is Qwen3ForCausalLM or Qwen3ForSequence",
    "reranker_no_tokenizer": r"tokenizer\.json is absent",
    "reranker_no_cuda": r"device is cuda, but PyTorch sees no CUDA device",
}
DOCUMENT = "Доза при КТ — 5 мЗв 🩻. The limit for staff is 20 mSv a year."
SPANS = [(0, 23), (24, len(DOCUMENT))]


def filled_repository(folder: Path) -> TinyRepository:
    repository, frida = TinyRepository(folder), tiny_bundle("frida")
    reranker = tiny_bundle("qwen3_reranker")
    for name in FRIDAS:
        repository.add(name, name, frida)
        repository.pinned(name, frida)
    repository.add("qwen3_reranker", "qwen3_reranker", reranker, {"context": "512"})
    repository.pinned("qwen3_reranker", reranker)
    # What the manifest finds needs no pins: it is checked first.
    for name, hidden in (("truncated", truncate), ("no_tokenizer", without_tokenizer)):
        repository.add(name, "frida", repository.damaged("frida", name, hidden))
    for kind, prefix in (("frida", ""), ("qwen3_reranker", "reranker_")):
        known = {"nan": filled(math.nan), "other_weights": filled(0.01), "for_bert": for_bert}
        for name, damage in known.items():
            add_damaged(repository, kind, prefix + name, damage)
    for name, parameters in (("no_cuda", {"device": "cuda"}), ("half", {"precision": "fp16"})):
        repository.add(name, "frida", frida, parameters)
        repository.pinned(name, frida)
    repository.add("unpinned", "frida", frida)
    repository.add("no_weights", "frida", Path("/nowhere/frida"))
    repository.add("unforeseen", "frida", frida)
    config = repository.models / "unforeseen" / "config.pbtxt"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace('key: "weights" ', 'key: "weight"'), encoding="utf-8")
    for name, hidden in (("reranker_truncated", truncate), ("reranker_no_tokenizer", without_tokenizer)):
        repository.add(name, "qwen3_reranker", repository.damaged("qwen3_reranker", name, hidden))
    repository.add("reranker_no_cuda", "qwen3_reranker", reranker, {"device": "cuda"})
    repository.pinned("reranker_no_cuda", reranker)
    return repository


def add_damaged(repository: TinyRepository, kind: str, name: str, damage: Callable[[Path], None]) -> None:
    """A model whose manifest and pins agree with its damaged weights."""
    weights = repository.damaged(kind, name, damage)
    repository.add(name, kind, weights)
    repository.pinned(name, weights)


@dataclass(frozen=True)
class Server:
    """The running server and what became of its models: name -> (state, reason)."""

    triton: TritonServer
    states: dict[str, tuple[str, str]]

    @property
    def log(self) -> str:
        return self.triton.child.log.read_text(encoding="utf-8", errors="replace")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("torch")
    repository = filled_repository(folder)
    models = (*GOOD, *BAD)
    triton = TritonServer(Child("triton", folder), models, free_grpc_port(), repository=repository.models)
    line = command(models, triton.host, triton.grpc_port, repository=repository.models)
    # One thread a model, two models at a time: with more than there are cores Triton gives starting ones up.
    surroundings = environ(os.environ) | {"OMP_NUM_THREADS": "1"}
    options = ["--exit-on-error=false", "--disable-auto-complete-config", "--model-load-thread-count=2"]
    triton.child.start([*line, *options], surroundings, Path.cwd())
    try:
        yield Server(triton, settled(triton))
    finally:
        ran(triton.stop())


def settled(triton: TritonServer, seconds: float = 600) -> dict[str, tuple[str, str]]:
    """Waits until every model is READY or has failed; gives up when nothing has changed for so long."""
    seen: dict[str, tuple[str, str]] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end and triton.child.running():
        states = index(triton)
        if states != seen:
            seen, end = states, time.monotonic() + seconds
        if len(states) == len(triton.models) and all(state != "LOADING" for state, _ in states.values()):
            return states
        time.sleep(0.5)
    return pytest.fail("\n".join(triton.child.last_lines()))


def index(triton: TritonServer) -> dict[str, tuple[str, str]]:
    request = urllib.request.Request(f"http://{triton.http}/v2/repository/index", b"{}", method="POST")
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            entries = json.load(reply)
    except OSError:
        return {}
    return {one["name"]: (one.get("state", "LOADING"), one.get("reason", "")) for one in entries}


@pytest.mark.parametrize("model", GOOD)
def test_the_good_ones_are_ready(server: Server, model: str) -> None:
    assert server.states[model] == ("READY", "")


@pytest.mark.parametrize("model", BAD)
async def test_a_bad_one_is_never_ready_and_says_why_in_one_line(server: Server, model: str) -> None:
    assert server.states[model][0] == "UNAVAILABLE"
    (line,) = [one for one in server.log.splitlines() if one.startswith(f"{model} does not start: ")]
    assert re.search(BAD[model], line)
    assert line in server.states[model][1]
    models = ModelServer(server.triton.grpc, "embedder")
    assert not await models.ready(model)
    await models.close()


@pytest.mark.parametrize("model", FRIDAS)
async def test_vectors_are_the_known_ones_over_the_embedders_contract(server: Server, model: str) -> None:
    """The known answers were made by transformers alone, in another process."""
    cases = json.loads((tiny_bundle("frida") / "golden.json").read_text(encoding="utf-8"))["cases"]
    models = ModelServer(server.triton.grpc, "embedder")
    replies = await asyncio.gather(*(models.embed(model, one["text"], one["task"]) for one in cases))
    for case, reply in zip(cases, replies, strict=True):
        assert reply.vectors.shape == (1, DIMENSION)
        assert float(reply.vectors[0] @ decoded(case["vector"])) > 0.9999
        assert not reply.truncated
    await models.close()


async def test_the_poolings_differ_where_there_are_spans_and_blend_lies_between(server: Server) -> None:
    models = ModelServer(server.triton.grpc, "embedder")
    found = {name: (await models.embed(name, DOCUMENT, "document", SPANS)).vectors for name in FRIDAS}
    for vectors in found.values():
        assert vectors.shape == (2, DIMENSION)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    mixed = found["frida"] + found["frida_late"]
    expected = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    np.testing.assert_allclose(found["frida_blend"], expected, atol=1e-5)
    assert np.abs(found["frida_chunk"] - found["frida_late"]).max() > 1e-3
    await models.close()


async def test_callers_share_executions_and_get_what_they_would_get_alone(server: Server) -> None:
    models = ModelServer(server.triton.grpc, "embedder")
    jobs = [(f"{DOCUMENT} {'норма ' * number}", SPANS[: number % 3]) for number in range(12)]
    alone = [await models.embed("frida_late", text, "document", spans) for text, spans in jobs]
    together = await asyncio.gather(*(models.embed("frida_late", text, "document", s) for text, s in jobs))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.vectors, other.vectors, atol=2e-6)
    await models.close()


@pytest.mark.parametrize(("text", "task"), [("", "query"), (" \n", "query"), ("secret", "passage")])
async def test_a_bad_request_is_an_invalid_argument(server: Server, text: str, task: str) -> None:
    models = ModelServer(server.triton.grpc, "embedder")
    with pytest.raises(InvalidArgument):
        await models.embed("frida", text, task)
    await models.close()


async def test_a_cut_text_says_so_and_is_counted(server: Server) -> None:
    models = ModelServer(server.triton.grpc, "embedder")
    before = counted(server, "radrag_model_truncated_rows_total", "frida")
    reply = await models.embed("frida", "норма аорты " * 400, "document")
    assert reply.truncated
    assert counted(server, "radrag_model_truncated_rows_total", "frida") == before + 1
    await models.close()


async def test_the_fingerprint_is_the_bundles(server: Server) -> None:
    models = ModelServer(server.triton.grpc, "embedder")
    published = await models.parameters("frida_late")
    files = json.loads((tiny_bundle("frida") / "manifest.json").read_text(encoding="utf-8"))["files"]
    assert published["weights_sha256"] == files["model.safetensors"]["sha256"]
    assert published["tokenizer_sha256"] == files["tokenizer.json"]["sha256"]
    assert published["prefix_document"] == "search_document: "
    assert published["pooling"] == "late"
    await models.close()


async def test_scores_are_the_known_ones_over_the_rerankers_contract(server: Server) -> None:
    golden = json.loads((tiny_bundle("qwen3_reranker") / "golden.json").read_text(encoding="utf-8"))
    models = ModelServer(server.triton.grpc, "reranker")
    for query in {case["query"] for case in golden["cases"]}:
        cases = [case for case in golden["cases"] if case["query"] == query]
        found = await models.rerank("qwen3_reranker", query, [case["passage"] for case in cases])
        assert [one.value for one in found] == pytest.approx([case["score"] for case in cases], abs=0.005)
    await models.close()


async def test_a_bad_passage_is_nan_and_a_long_one_is_cut_in_a_request_that_succeeds(server: Server) -> None:
    models = ModelServer(server.triton.grpc, "reranker")
    before = counted(server, "radrag_model_failed_rows_total", "qwen3_reranker")
    good, empty, long = await models.rerank("qwen3_reranker", "Доза?", ["5 мЗв", " ", "доза " * 900])
    assert (math.isnan(good.value), math.isnan(empty.value), math.isnan(long.value)) == (False, True, False)
    assert (good.truncated, empty.truncated, long.truncated) == (False, False, True)
    assert counted(server, "radrag_model_failed_rows_total", "qwen3_reranker") == before + 1
    assert counted(server, "radrag_model_truncated_rows_total", "qwen3_reranker") >= 1
    await models.close()


async def test_one_score_for_different_passages_is_counted_as_a_collapse(server: Server) -> None:
    """Texts that differ in how their letters are composed are one to the tokenizer, and the model cannot tell
    them apart: as if it did not rank. Honest ones are not counted."""
    models = ModelServer(server.triton.grpc, "reranker")
    before = counted(server, "radrag_model_collapsed_rerankings_total", "qwen3_reranker")
    apart, whole = "и\u0306", "\u0439"
    same = ["".join(letters) for letters in itertools.product((apart, whole), repeat=3)]
    found = await models.rerank("qwen3_reranker", "Доза?", [f"{letters} 5 мЗв" for letters in same])
    assert max(one.value for one in found) - min(one.value for one in found) < 0.005
    assert counted(server, "radrag_model_collapsed_rerankings_total", "qwen3_reranker") == before + 1
    await models.rerank(
        "qwen3_reranker", "Доза?", ["5 мЗв", "Рецепт пирога", "CT of the chest", "20 mSv", "🩻"]
    )
    assert counted(server, "radrag_model_collapsed_rerankings_total", "qwen3_reranker") == before + 1
    await models.close()


async def test_bytes_that_are_no_text_fail_their_row_only(server: Server) -> None:
    async with aio.InferenceServerClient(server.triton.grpc) as client:
        rows = {"QUERY": [[b"dose"], [b"dose"]], "PASSAGE": [[b"caf\xe9"], [b"5 mSv"]]}
        inputs = [aio.InferInput(name, [2, 1], "BYTES") for name in rows]
        for tensor in inputs:
            tensor.set_data_from_numpy(np.array(rows[tensor.name()], np.object_))
        scores = (await client.infer("qwen3_reranker", inputs)).as_numpy("SCORE").ravel()
    assert [bool(np.isnan(value)) for value in scores] == [True, False]


async def test_the_committed_configuration_wants_a_gpu(server: Server, tmp_path: Path) -> None:
    """Loaded as it stands, on a machine without one, it is refused: nobody serves it from a CPU unawares."""
    place = server.triton.repository / "frida_on_gpu"
    repository = TinyRepository(place.parent.parent)
    repository.add("frida_on_gpu", "frida", tiny_bundle("frida"), {"device": "cuda"})
    config = place / "config.pbtxt"
    config.write_text(config.read_text(encoding="utf-8").replace("KIND_CPU", "KIND_GPU"), encoding="utf-8")
    async with aio.InferenceServerClient(server.triton.grpc) as client:
        with pytest.raises(InferenceServerException, match=r"(?i)gpu|cuda"):
            await client.load_model("frida_on_gpu")
        assert not await client.is_model_ready("frida_on_gpu")


def counted(server: Server, name: str, model: str) -> float:
    with urllib.request.urlopen(f"http://{server.triton.metrics}/metrics", timeout=5) as reply:
        text = reply.read().decode()
    (value,) = re.findall(rf'^{name}{{model="{model}"}} (\S+)', text, re.MULTILINE)
    return float(value)
