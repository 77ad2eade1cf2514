"""The embedders as callers meet them: on a real Triton, over gRPC."""

import asyncio
import hashlib
import itertools
import re
import urllib.request
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
import pytest_asyncio
from e5_embedder import Embedder, Pooling, Request
from e5_encoder import Encoder
from tritonclient.grpc import aio
from tritonclient.utils import InferenceServerException

from cli.triton_server import TritonServer
from tests.model_repository.conftest import FILES

MODELS = {"e5_small": Pooling.CHUNK, "e5_small_late": Pooling.LATE, "e5_small_blend": Pooling.BLEND}
QUESTION = "Какова доза при КТ грудной клетки?"
DOCUMENT = "Доза при КТ грудной клетки — около 5 мЗв 🩻. The limit for staff is 20 mSv a year."
SPANS = ((0, 43), (43, len(DOCUMENT)))
LATE = "e5_small_late"
Spans = Sequence[tuple[int, int]]


@pytest_asyncio.fixture
async def client(triton: TritonServer) -> AsyncIterator[aio.InferenceServerClient]:
    async with aio.InferenceServerClient(triton.grpc) as client:
        yield client


def inputs(text: bytes, task: bytes, spans: Spans, rows: int = 1) -> list[aio.InferInput]:
    arrays = {
        "TEXT": np.array([[text]] * rows, np.object_),
        "TASK": np.array([[task]] * rows, np.object_),
        "SPANS": np.array([spans] * rows, np.int32).reshape(rows, -1, 2),
    }
    tensors = []
    for name, values in arrays.items():
        tensors.append(aio.InferInput(name, list(values.shape), "INT32" if name == "SPANS" else "BYTES"))
        tensors[-1].set_data_from_numpy(values)
    return tensors


async def ask(
    client: aio.InferenceServerClient, text: str, task: str, spans: Spans = (), model: str = "e5_small"
) -> aio.InferResult:
    return await client.infer(model, inputs(text.encode(), task.encode(), spans))


@pytest.mark.parametrize("model", MODELS)
async def test_a_text_gives_one_row_and_spans_give_one_each(
    client: aio.InferenceServerClient, model: str
) -> None:
    whole = await ask(client, QUESTION, "query", (), model)
    spans = await ask(client, DOCUMENT, "document", SPANS, model)
    for reply, rows in ((whole, 1), (spans, 2)):
        vectors, tokens, cut = (reply.as_numpy(name) for name in ("EMBEDDINGS", "TOKENS", "TRUNCATED"))
        assert (vectors.shape, vectors.dtype) == ((1, rows, 384), np.float32)
        assert (tokens.shape, tokens.dtype, bool((tokens > 0).all())) == ((1, rows), np.int32, True)
        assert (cut.shape, cut.dtype, bool(cut.any())) == ((1, 1), np.bool_, False)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
async def test_vectors_are_those_of_the_same_model_in_process(
    client: aio.InferenceServerClient, encoder: Encoder, model: str
) -> None:
    requests = [Request(QUESTION, "query: "), Request(DOCUMENT, "passage: ", SPANS)]
    here = Embedder(encoder, MODELS[model]).embed(requests)
    there = [
        await ask(client, QUESTION, "query", (), model),
        await ask(client, DOCUMENT, "document", SPANS, model),
    ]
    for mine, theirs in zip(here, there, strict=True):
        np.testing.assert_allclose(theirs.as_numpy("EMBEDDINGS")[0], mine.vectors, atol=1e-5)
        assert theirs.as_numpy("TOKENS")[0].tolist() == mine.tokens


async def test_concurrent_callers_share_executions_and_get_what_they_would_get_alone(
    client: aio.InferenceServerClient, triton: TritonServer
) -> None:
    """24 requests with 0 to 3 spans: ragged, so unlike numbers of spans do not keep them apart."""
    cuts = [np.linspace(0, len(DOCUMENT), number + 1).astype(int) for number in range(4)]
    jobs = [
        (f"{DOCUMENT} {at}", "document", [(int(a), int(b)) for a, b in itertools.pairwise(cut)])
        for at, cut in ((at, cuts[at % 4]) for at in range(24))
    ]
    alone = [await ask(client, *job) for job in jobs]
    before = await settled(triton, "e5_small")
    together = await asyncio.gather(*(ask(client, *job) for job in jobs))
    after = await settled(triton, "e5_small")
    assert after["success"] - before["success"] == 24
    assert after["exec"] - before["exec"] < 24
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.as_numpy("EMBEDDINGS"), other.as_numpy("EMBEDDINGS"), atol=2e-6)


async def settled(triton: TritonServer, model: str) -> dict[str, int]:
    """The counters once they rest: Triton answers first and counts after."""
    counts = await counted(triton, model)
    while True:
        await asyncio.sleep(0.5)
        earlier, counts = counts, await counted(triton, model)
        if counts == earlier:
            return counts


async def counted(triton: TritonServer, model: str) -> dict[str, int]:
    """Triton's own counters: requests served, and executions they took."""
    url = f"http://{triton.metrics}/metrics"
    text = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=5).read().decode())
    names = {"success": "nv_inference_request_success", "exec": "nv_inference_exec_count"}
    counts = {}
    for key, name in names.items():
        (value,) = re.findall(rf'^{name}{{model="{model}",version="1"}} (\d+)', text, re.MULTILINE)
        counts[key] = int(value)
    return counts


@pytest.mark.parametrize(
    ("text", "task", "spans", "rows", "message"),
    [
        (b"", b"query", [], 1, "TEXT is empty"),
        (b" \t\n", b"query", [], 1, "TEXT is empty"),
        (b"caf\xe9 secret", b"query", [], 1, "TEXT is not UTF-8"),
        (b"secret", b"passage", [], 1, "TASK is none of query, document"),
        (b"secret", b"\xff", [], 1, "TASK is not UTF-8"),
        (b"secret", b"document", [(0, 7)], 1, "SPANS row 0 is not a range"),
        (b"secret", b"document", [(0, 6), (4, 4)], 1, "SPANS row 1 is not a range"),
        ("я".encode() * 70_000, b"document", [], 1, "TEXT is longer than 65536"),
        (b"secret", b"query", [], 2, "TEXT must hold one text per request"),
    ],
)
async def test_a_bad_request_fails_alone_with_invalid_argument(
    client: aio.InferenceServerClient, text: bytes, task: bytes, spans: Spans, rows: int, message: str
) -> None:
    good = asyncio.gather(*(ask(client, f"{QUESTION} {at}", "query") for at in range(6)))
    with pytest.raises(InferenceServerException, match=message) as failure:
        await client.infer("e5_small", inputs(text, task, spans, rows))
    assert failure.value.status() == "StatusCode.INVALID_ARGUMENT"
    assert "secret" not in str(failure.value)
    assert all(reply.as_numpy("EMBEDDINGS").shape == (1, 1, 384) for reply in await good)


async def test_a_full_queue_refuses_at_once_and_serves_the_rest(client: aio.InferenceServerClient) -> None:
    """Both instances are busy with long texts; of 240 questions at most 128 wait,
    and two executions of 32 may have begun.
    """
    busy = await both_instances_busy(client)
    replies = await asyncio.gather(
        *(ask(client, QUESTION, "query", (), LATE) for _ in range(240)), return_exceptions=True
    )
    refused = [reply for reply in replies if isinstance(reply, InferenceServerException)]
    assert len(refused) >= 240 - 128 - 2 * 32
    assert {str(failure.status()) for failure in refused} == {"StatusCode.UNAVAILABLE"}
    assert all("maximum queue size" in str(failure) for failure in refused)
    assert len(refused) + sum(isinstance(reply, aio.InferResult) for reply in replies) == 240
    await busy


async def both_instances_busy(client: aio.InferenceServerClient) -> asyncio.Future[list[aio.InferResult]]:
    """One long text after the other: sent together they would share one execution on one instance."""
    tasks = []
    for _ in range(2):
        tasks.append(asyncio.create_task(ask(client, DOCUMENT * 60, "document", [(0, 80)], LATE)))
        await asyncio.sleep(0.4)
    return asyncio.gather(*tasks)


async def test_a_request_leaves_the_queue_when_its_own_time_is_up(client: aio.InferenceServerClient) -> None:
    busy = await both_instances_busy(client)
    with pytest.raises(InferenceServerException, match="timeout expired") as failure:
        await client.infer(LATE, inputs(QUESTION.encode(), b"query", []), timeout=1_000)
    assert failure.value.status() == "StatusCode.UNAVAILABLE"
    await busy


@pytest.mark.parametrize("model", MODELS)
async def test_the_fingerprint_is_published_and_true(client: aio.InferenceServerClient, model: str) -> None:
    reply = await client.get_model_config(model)
    published = {key: value.string_value for key, value in reply.config.parameters.items()}
    for name, key in (("model.onnx", "weights_sha256"), ("tokenizer.json", "tokenizer_sha256")):
        assert published[key] == hashlib.sha256((FILES / name).read_bytes()).hexdigest()
    expected = {"dimension": "384", "normalized": "true", "window": "512", "pooling": MODELS[model].value}
    prefixes = {"prefix_query": "query: ", "prefix_document": "passage: "}
    assert published.items() >= (expected | prefixes).items()
